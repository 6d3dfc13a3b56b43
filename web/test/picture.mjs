// node test/picture.mjs FILE [TASK [WIDTH [light|dark]]]: a picture of the page at work, for the gallery.
import { browser, open, plainHost, whole } from "./e2e/harness.mjs";

const [file, task = "room", width = "1280", colorScheme = "light"] = process.argv.slice(2);
const [chrome, host] = [await browser(), await plainHost()];
const context = await chrome.newContext({ viewport: { width: Number(width), height: 900 }, colorScheme });
const { page, wrong } = await open(context, `${host.url}#${task}`);
if (task === "room") {
    await page.getByRole("button", { name: "gateway" }).waitFor();
    await page.getByRole("button", { name: "Run the room" }).click();
    await whole(page, "The room");
    // A picture in the middle of a frame.
    await page.waitForTimeout(900);
} else if (task === "predict") {
    await whole(page, "Prediction");
    await page.getByRole("button", { name: "Show how it scales" }).click();
    await page.getByText("The band is the interval").waitFor({ timeout: 240_000 });
} else if (task === "compare") {
    await page.getByRole("rowheader", { name: "99 % arrive within" }).waitFor({ timeout: 240_000 });
} else if (task === "doctor") {
    await page.getByRole("button", { name: "Try an example" }).click();
    await page.locator(".finding").first().waitFor({ timeout: 120_000 });
}
await page.screenshot({ path: file, fullPage: process.argv.includes("--full") });
for (const it of wrong) console.error(it);
await chrome.close();
await host.close();
