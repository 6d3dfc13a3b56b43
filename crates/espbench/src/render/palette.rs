//! Colours of all charts: one meaning each, told apart by people who see red and green alike.
//!
//! Hues follow Okabe and Ito 2008, "Color Universal Design", moved until the colours that one chart may
//! have differ enough for protanopes and deuteranopes, too, and stand out from a white and a dark page; the
//! tests compute all three. Nothing depends on colour alone: curves have dashes and markers, bars textures.

use std::fmt::Write as _;

/// A colour by what it means.
#[derive(Clone, Copy, Debug)]
struct ColourRole {
    /// Name of the style sheet's variable.
    name: &'static str,
    /// Meaning, the only one.
    #[cfg_attr(not(test), expect(dead_code, reason = "the table tells people"))]
    meaning: &'static str,
    /// Colour on white.
    light: &'static str,
    /// Colour on a dark page.
    dark: &'static str,
}

const ROLES: [ColourRole; 19] = [
    ColourRole {
        name: "s0",
        meaning: "ours, or the first of several",
        light: "#0d78bb",
        dark: "#2ca1d1",
    },
    ColourRole { name: "s1", meaning: "the second of several", light: "#c66e0c", dark: "#f1a717" },
    ColourRole { name: "s2", meaning: "the third", light: "#008566", dark: "#51d8a3" },
    ColourRole { name: "s3", meaning: "the fourth", light: "#a64783", dark: "#b374a7" },
    ColourRole { name: "s4", meaning: "the fifth", light: "#898638", dark: "#fbef4e" },
    ColourRole { name: "s5", meaning: "the sixth", light: "#1e1d5c", dark: "#859df8" },
    ColourRole {
        name: "published",
        meaning: "published figures",
        light: "#5d3a95",
        dark: "#d3aff6",
    },
    ColourRole {
        name: "limit",
        meaning: "a limit, theoretical or asked for",
        light: "#1b232c",
        dark: "#f0edf3",
    },
    ColourRole {
        name: "data",
        meaning: "data frames of devices that were read",
        light: "#2e8b56",
        dark: "#88ce8a",
    },
    ColourRole {
        name: "control",
        meaning: "acknowledgements and other control frames",
        light: "#699543",
        dark: "#c6e968",
    },
    ColourRole {
        name: "management",
        meaning: "beacons and other management frames",
        light: "#597a9c",
        dark: "#92b9d9",
    },
    ColourRole {
        name: "background",
        meaning: "frames of other people’s stations",
        light: "#6f7666",
        dark: "#b9bed0",
    },
    ColourRole {
        name: "collided",
        meaning: "frames at the same time, and what was lost by it",
        light: "#b14100",
        dark: "#ff7b36",
    },
    ColourRole {
        name: "partly",
        meaning: "frames that some receivers read",
        light: "#988026",
        dark: "#f6c14d",
    },
    ColourRole {
        name: "weak",
        meaning: "frames that were too weak",
        light: "#985477",
        dark: "#986975",
    },
    ColourRole {
        name: "unheard",
        meaning: "frames that nobody took",
        light: "#8b8988",
        dark: "#9fa3a6",
    },
    ColourRole {
        name: "lost",
        meaning: "probes and packets that were lost",
        light: "#a0001f",
        dark: "#f53f56",
    },
    ColourRole {
        name: "waiting",
        meaning: "waits for the medium",
        light: "#8293a2",
        dark: "#537a8c",
    },
    ColourRole { name: "queued", meaning: "waits in a queue", light: "#b08b16", dark: "#bba555" },
];

/// Returns the variables of a style sheet, for a white page and for a dark one; paper is white.
pub(super) fn css() -> String {
    let all = |of: fn(&ColourRole) -> &'static str| {
        let mut out = String::from(":root {");
        for role in &ROLES {
            let _ = write!(out, " --{}: {};", role.name, of(role));
        }
        out + " }\n"
    };
    let (light, dark) = (all(|it| it.light), all(|it| it.dark));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Rgb = [f64; 3];

    /// Page and paper; the page in the dark.
    const WHITE: &str = "#ffffff";
    const DARK: &str = "#14171c";

    /// Colours that one chart may have: curves, and frames on the air.
    const CURVES: [&str; 9] =
        ["s0", "s1", "s2", "s3", "s4", "s5", "published", "limit", "collided"];
    const FRAMES: [&str; 12] = [
        "s0",
        "data",
        "control",
        "management",
        "background",
        "collided",
        "partly",
        "weak",
        "unheard",
        "lost",
        "waiting",
        "queued",
    ];

    /// Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision
    /// Deficiency", severity 1, for linear RGB.
    const PROTANOPIA: [Rgb; 3] = [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ];
    const DEUTERANOPIA: [Rgb; 3] = [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ];
    const NORMAL: [Rgb; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    /// Returns the linear RGB of sRGB (IEC 61966-2-1).
    fn linear(hex: &str) -> Rgb {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: &[Rgb; 3], it: Rgb) -> Rgb {
        matrix.map(|row| row.iter().zip(it).map(|(a, b)| a * b).sum())
    }

    /// Returns CIE 1976 L*a*b*, D65.
    fn lab(linear: Rgb) -> Rgb {
        let xyz = times(
            &[
                [0.412_456_4, 0.357_576_1, 0.180_437_5],
                [0.212_672_9, 0.715_152_2, 0.072_175],
                [0.019_333_9, 0.119_192, 0.950_304_1],
            ],
            linear.map(|part| part.clamp(0.0, 1.0)),
        );
        let d: f64 = 6.0 / 29.0;
        let f = |t: f64| if t > d.powi(3) { t.cbrt() } else { t / (3.0 * d * d) + 4.0 / 29.0 };
        let [x, y, z] = [f(xyz[0] / 0.950_47), f(xyz[1]), f(xyz[2] / 1.088_83)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn distance(a: &str, b: &str, vision: &[Rgb; 3]) -> f64 {
        let [a, b] = [a, b].map(|it| lab(times(vision, linear(it))));
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// Returns the contrast ratio (WCAG 2.2).
    fn contrast(a: &str, b: &str) -> f64 {
        let light = |it| linear(it).iter().zip([0.2126, 0.7152, 0.0722]).map(|(a, b)| a * b).sum();
        let (a, b): (f64, f64) = (light(a), light(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn role(name: &str) -> &'static ColourRole {
        ROLES.iter().find(|it| it.name == name).unwrap()
    }

    #[test]
    fn each_colour_has_one_meaning() {
        let meanings: BTreeSet<&str> = ROLES.iter().map(|it| it.meaning).collect();
        assert_eq!(meanings.len(), ROLES.len());
        for (at, a) in ROLES.iter().enumerate() {
            for b in &ROLES[..at] {
                for (x, y) in [(a.light, b.light), (a.dark, b.dark)] {
                    let far = distance(x, y, &NORMAL);
                    assert!(far > 8.0, "{} and {}: {far:.1}", a.name, b.name);
                }
            }
        }
    }

    #[test]
    fn colours_of_one_chart_differ_for_everybody() {
        for (chart, least) in [(&CURVES[..], 11.0), (&FRAMES[..], 9.0)] {
            for vision in [&NORMAL, &PROTANOPIA, &DEUTERANOPIA] {
                for (at, a) in chart.iter().enumerate() {
                    for b in &chart[..at] {
                        let (c, d) = (role(a), role(b));
                        for (x, y) in [(c.light, d.light), (c.dark, d.dark)] {
                            let far = distance(x, y, vision);
                            assert!(far > least, "{a} {x} and {b} {y}: {far:.1}");
                        }
                    }
                }
            }
        }
        // Red and green of the same lightness are noticed.
        assert!(distance("#c04040", "#6a7a20", &DEUTERANOPIA) < 11.0);
        assert!(distance("#c04040", "#6a7a20", &NORMAL) > 40.0);
    }

    #[test]
    fn every_colour_stands_out_from_the_page() {
        for role in &ROLES {
            assert!(contrast(role.light, WHITE) >= 3.0, "{}", role.name);
            assert!(contrast(role.dark, DARK) >= 3.0, "{}", role.name);
        }
        let published = role("published");
        assert!(
            contrast(published.light, WHITE) >= 4.5 && contrast(published.dark, DARK) >= 4.5,
            "it is text, too"
        );
        let style = include_str!("html/style.css");
        assert!(
            style.contains(&format!("--bg: {WHITE}")) && style.contains(&format!("--bg: {DARK}"))
        );
    }
}
