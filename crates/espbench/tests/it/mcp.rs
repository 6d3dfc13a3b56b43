//! The server of the Model Context Protocol, asked by the client of the protocol's own Rust SDK over a child process.

use crate::util::{PATIENCE, TestDir};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

type Client = RunningService<RoleClient, ()>;

/// Runs a conversation with a server in the folder.
fn with_server<F: Future<Output = ()>>(bench: &TestDir, talk: impl FnOnce(Client) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut command = tokio::process::Command::from(bench.command(&["mcp"]));
        command.kill_on_drop(true);
        let transport = TokioChildProcess::new(command).unwrap();
        let client = ().serve(transport).await.expect("the server says hello");
        tokio::time::timeout(PATIENCE, talk(client)).await.expect("an end");
    });
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().unwrap().clone();
    let asked = CallToolRequestParams::new(tool).with_arguments(arguments);
    client.call_tool(asked).await.expect("an answer of the protocol")
}

/// Returns the structured answer, which is valid by the tool's own schema.
async fn answer(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_ne!(result.is_error, Some(true), "{result:?}");
    let value = result.structured_content.expect("a structured answer");
    let tools = client.list_all_tools().await.unwrap();
    let schema = tools.iter().find(|it| it.name == tool).unwrap().output_schema.clone().unwrap();
    let schema = Value::Object((*schema).clone());
    let wrong: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&value)
        .map(|it| it.to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?} in {value:#}");
    value
}

/// Returns what a tool says that failed.
async fn refusal(client: &Client, tool: &'static str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{result:?}");
    assert!(result.structured_content.is_none(), "no answer beside an error: {result:?}");
    result.content.iter().filter_map(|it| it.as_text()).map(|it| it.text.clone()).collect()
}

const PLAN: &str = "name = \"asked\"\nrepetitions = 2\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 10\ncount = 20\n\
                    [[threshold]]\nmetric = \"rtt_exact_p50\"\nmax = \"1 us\"\n";

#[test]
fn tools_have_schemas_and_say_what_they_do() {
    with_server(&TestDir::new(), |client| async move {
        let info = client.peer_info().unwrap();
        assert_eq!(info.server_info.as_ref().unwrap().name, "espbench");
        assert!(info.instructions.as_deref().unwrap().contains("null is unknown"));
        let tools = client.list_all_tools().await.unwrap();
        let mut names: Vec<&str> = tools.iter().map(|it| &*it.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["check", "compare", "doctor", "predict", "read", "run", "tune"]);
        for tool in &tools {
            assert!(tool.description.as_deref().is_some_and(|it| it.len() > 40), "{tool:?}");
            assert!(tool.output_schema.is_some(), "{}", tool.name);
            let properties = tool.input_schema["properties"].as_object().unwrap();
            assert!(properties.values().all(|it| it["description"].is_string()), "{}", tool.name);
            let required = tool.input_schema.get("required").and_then(Value::as_array);
            let wanted = matches!(&*tool.name, "check" | "tune" | "compare");
            assert_eq!(required.is_some_and(|it| !it.is_empty()), wanted, "{}", tool.name);
            let reads = tool.annotations.as_ref().and_then(|it| it.read_only_hint);
            assert_eq!(reads, Some(tool.name != "run"), "{}", tool.name);
        }
    });
}

#[test]
fn a_run_is_carried_out_and_read_again() {
    let bench = TestDir::new();
    with_server(&bench, |client| async move {
        let run =
            answer(&client, "run", json!({ "plan_toml": PLAN, "on": "sim", "seed": 3 })).await;
        assert_eq!(
            (&run["run"], &run["origin"], &run["seed"]),
            (&json!("asked-1"), &json!("simulated"), &json!(3))
        );
        let named = json!({ "metrics": ["rtt_exact_p50"] });
        let named = answer(&client, "read", named).await;
        let rtt = &named["results"][0]["figures"][0];
        assert!(rtt["ci_low"].as_f64() < rtt["value"].as_f64() && rtt["repetitions"] == 2, "{rtt}");
        let digits = rtt["ci_high"].to_string().chars().filter(char::is_ascii_digit).count();
        assert!(digits <= 4, "four digits: {rtt}");
        let full = answer(&client, "read", json!({ "full": true })).await;
        assert_eq!(full["left_out"], 0);
        assert!(
            run["left_out"].as_u64().unwrap() > 0 && !run["leading"].as_array().unwrap().is_empty()
        );
        let unknown = refusal(&client, "read", json!({ "metrics": ["throughput_rx"] })).await;
        assert!(unknown.contains("the run has no metric `throughput_rx`"), "{unknown}");
        // A threshold that fails is an answer, and no error.
        assert_eq!(run["thresholds"][0]["passed"], false);
        let read = answer(&client, "read", json!({})).await;
        assert_eq!(run, read, "the last run");
        assert_eq!(answer(&client, "read", json!({ "run": "asked-1" })).await, read);
    });
}

#[test]
fn what_is_not_known_is_an_error_and_not_a_figure() {
    let bench = TestDir::new();
    bench.write("broken.toml", "name = \"b\"\n[[measure]]\nkind = \"no-such-kind\"\n");
    with_server(&bench, |client| async move {
        for (tool, arguments, wanted) in [
            ("read", json!({ "run": "nowhere-1" }), "there is no store"),
            ("run", json!({ "plan": "broken.toml", "on": "sim" }), "line 3"),
            ("run", json!({ "plan": "a", "plan_toml": "b" }), "either plan or plan_toml"),
            ("run", json!({ "plan_toml": PLAN, "on": "sim:nowhere" }), "no lab is called"),
            // A value is no flag, and no command.
            ("run", json!({ "plan": "--help" }), "--help"),
            ("run", json!({ "plan_toml": PLAN, "on": "sim; touch hit" }), "sim; touch hit"),
            ("predict", json!({ "devices": "0" }), "not a number of devices"),
            ("predict", json!({ "devices": 5.5 }), "`5.5` is not a number of devices"),
            ("predict", json!({ "devices": 3, "payload": "x" }), "`payload` cannot be \"x\""),
            ("predict", json!({}), "say how many with devices=60"),
            ("predict", json!({ "devices": 3, "attempts": 2 }), "add sleep=\"deep\""),
            ("check", json!({}), "`sdkconfig` is missing"),
            ("run", json!({ "plan_toml": "name = 1\n" }), "plan_toml: line 1"),
            ("predict", json!({}), "neither a number of devices nor limits"),
            ("check", json!({ "sdkconfig": "nowhere" }), "cannot read nowhere"),
            ("tune", json!({ "want": ["fast"] }), "fast"),
            ("tune", json!({ "want": [] }), "`want` is empty"),
            ("predict", json!({ "devices": 3, "cast": "smoke" }), "`cast` cannot be \"smoke\""),
            ("compare", json!({ "run": "nowhere-1" }), "there is no store"),
            ("doctor", json!({}), "name files"),
            ("doctor", json!({ "files": ["nowhere"] }), "cannot read nowhere"),
        ] {
            let told = refusal(&client, tool, arguments.clone()).await;
            assert!(told.contains(wanted), "{tool} {arguments}: {told}");
            // A tool has arguments, and no flags.
            let is_name = arguments["plan"] == "--help";
            assert!(is_name || !told.contains("--"), "{tool} {arguments}: {told}");
        }
        // Arguments that the schema does not have are refused by the protocol.
        let odd = json!({ "run": "last", "file": "/etc/passwd" }).as_object().unwrap().clone();
        let asked = CallToolRequestParams::new("read").with_arguments(odd);
        let refused = match client.call_tool(asked).await {
            Err(_) => true,
            Ok(result) => result.is_error == Some(true),
        };
        assert!(refused, "an unknown argument");
    });
    assert!(!bench.path("hit").exists());
}

#[test]
fn predictions_and_diagnoses_have_intervals_and_evidence() {
    let bench = TestDir::new();
    with_server(&bench, |client| async move {
        let small = json!({ "devices": 3, "every": "1s", "rooms": 2, "messages": 100 });
        let fleet = answer(&client, "predict", small).await;
        assert_eq!(fleet["origin"], "simulated");
        let row = &fleet["rows"][0];
        assert_eq!(row["devices"], 3);
        assert!(row["loss_percent"]["ci_high"].is_number() && row["life_days"].is_null(), "{row}");
        let chips = json!({ "devices": 3, "profile": "esp32,esp32c3", "battery": "2xAA", "rooms": 2, "messages": 100 });
        let chips = answer(&client, "predict", chips).await;
        let (first, second) = (&chips["rows"][0], &chips["rows"][1]);
        assert_eq!((&first["profile"], &second["profile"]), (&json!("esp32c3"), &json!("esp32")));
        assert!(
            first["limited_by"]["part"].is_string() && first["little_known"].is_array(),
            "{first}"
        );
        let log = "I (1234) wifi:state: run -> init (0x200)\nW (1240) wifi station: disconnect reason:201\n\
                   wifi:disconnected, reason: 201\n";
        let told = answer(&client, "doctor", json!({ "log": log })).await;
        let verdict = told["diagnoses"][0]["verdict"].as_str().unwrap();
        assert!(["causes", "nothing-wrong", "cannot-tell"].contains(&verdict), "{told}");
        assert_eq!(told["diagnoses"][0]["files"], json!(["log"]), "no file of the server's");
        let first = &told["diagnoses"][0]["findings"][0];
        assert!(first["share"].as_f64().unwrap() > 0.0, "{first}");
        let place = &first["evidence"][0];
        assert!(
            place["line"].is_u64() && place["text"].as_str().unwrap().contains("reason"),
            "{first}"
        );
        let nothing = answer(&client, "doctor", json!({ "log": "hello\nworld\n" })).await;
        assert_eq!(nothing["diagnoses"][0]["verdict"], "cannot-tell", "{nothing}");
    });
}

#[test]
fn a_call_that_is_cancelled_ends_its_work() {
    let bench = TestDir::new();
    // Years of virtual time: nobody waits for its end.
    let long = "name = \"long\"\nrepetitions = 1000\n[[measure]]\nkind = \"esp-now\"\ntest = \"multi-ping\"\ndevices = 64\ncount = 100000\n";
    with_server(&bench, |client| async move {
        let arguments = json!({ "plan_toml": long, "on": "sim" }).as_object().unwrap().clone();
        let asked = CallToolRequestParams::new("run").with_arguments(arguments);
        let call =
            tokio::time::timeout(std::time::Duration::from_secs(3), client.call_tool(asked)).await;
        assert!(call.is_err(), "it is not done in 3 s: {call:?}");
        // The server answers others meanwhile, and ends when the client does.
        assert_eq!(client.list_all_tools().await.unwrap().len(), 7);
        client.cancel().await.unwrap();
    });
}

#[test]
fn an_answer_is_short_and_two_runs_are_compared() {
    let plan = "[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\n\
                size = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]\ncast = [\"unicast\", \"broadcast 3\"]\ncount = 20\n";
    with_server(&TestDir::new(), |client| async move {
        let asked = |seed| {
            let plan = format!("name = \"many\"\nrepetitions = 2\n{plan}");
            json!({ "plan_toml": plan, "on": "sim:two-boards", "seed": seed })
        };
        let told = call(&client, "run", asked(1)).await;
        assert_ne!(told.is_error, Some(true), "{told:?}");
        let text: usize =
            told.content.iter().filter_map(|it| it.as_text()).map(|it| it.text.len()).sum();
        assert!(text <= 4096, "{text} bytes");
        let first = answer(&client, "read", json!({ "run": "many-1" })).await;
        assert!(first["left_out"].as_u64().unwrap() > 0 && !first["results"][0].is_null());
        answer(&client, "run", asked(2)).await;
        let pairs = answer(&client, "compare", json!({ "run": "many-1", "other": "many-2" })).await;
        assert!(pairs.to_string().len() <= 4096);
        let known: u64 =
            pairs["verdicts"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        let listed = pairs["pairs"].as_array().unwrap();
        assert_eq!(known, listed.len() as u64 + pairs["left_out"].as_u64().unwrap());
        assert!(listed.iter().all(|it| it["verdict"] != "not-comparable"), "{pairs}");
        assert_eq!(pairs["not_comparable"], json!([]), "{pairs}");

        // One repetition each of different seeds: nothing is judged, which a line says for all pairs.
        for seed in [1, 2] {
            let single = format!("name = \"single\"\n{plan}");
            answer(&client, "run", json!({ "plan_toml": single, "seed": seed })).await;
        }
        let asked = json!({ "run": "single-1", "other": "single-2" });
        let none = answer(&client, "compare", asked).await;
        let all = none["verdicts"]["not-comparable"].as_u64().unwrap();
        assert!(none.to_string().len() < 1000 && none["pairs"] == json!([]), "{none}");
        assert_eq!((&none["not_comparable"][0]["pairs"], all > 100), (&json!(all), true), "{none}");
        assert!(none["to_compare"].as_str().unwrap().contains("seed=\"N\""), "{none}");
    });
}

/// Over loopback there is no published figure of the very same: what a report shows beside its own says `not-comparable`.
#[test]
fn what_was_published_of_another_statistic_or_place_is_left_out() {
    let plan = "name = \"here\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 4]\ncount = 100\n";
    with_server(&TestDir::new(), |client| async move {
        let asked =
            json!({ "plan_toml": plan, "on": "loopback", "metrics": ["rtt_p50", "rtt_p99"] });
        let told = answer(&client, "run", asked).await;
        assert!(!told["results"][0]["figures"][0]["value"].is_null(), "{told}");
        assert!(!told.to_string().contains("published"), "{told}");
    });
}

#[test]
fn every_answer_is_short_unless_all_of_it_is_wanted() {
    let bench = TestDir::new();
    let settings = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=10\n\
                    CONFIG_LWIP_TCP_WND_DEFAULT=5744\n";
    bench.write("sdkconfig", settings);
    let sizes: Vec<String> = (10..40).map(|it| it.to_string()).collect();
    let plan = format!(
        "name = \"many\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = [{}]\ncount = 20\n",
        sizes.join(", ")
    );
    with_server(&bench, |client| async move {
        answer(&client, "run", json!({ "plan_toml": plan, "on": "sim" })).await;
        for (tool, arguments) in [
            ("check", json!({ "sdkconfig": "sdkconfig" })),
            (
                "predict",
                json!({ "devices": "1..100", "rooms": 2, "messages": 100, "battery": "2xAA" }),
            ),
            ("read", json!({ "metrics": ["loss", "rtt_exact_avg"] })),
        ] {
            let short = answer(&client, tool, arguments.clone()).await;
            assert!(short.to_string().len() <= 4096, "{tool}: {short}");
            assert!(short["left_out"].as_u64().unwrap() > 0, "{tool}: {short}");
            let mut all = arguments;
            all["full"] = json!(true);
            let whole = answer(&client, tool, all).await;
            assert!(whole.to_string().len() > short.to_string().len(), "{tool}: {whole}");
            let listed = |it: &Value| it["leading"].as_array().map_or(0, Vec::len);
            assert!(tool != "read" || listed(&short) == 2, "those of the answer alone: {short}");
        }
    });
}

/// Client that counts how far a call is.
#[derive(Clone, Default)]
struct ProgressCounter(std::sync::Arc<std::sync::Mutex<Vec<f64>>>);

impl rmcp::ClientHandler for ProgressCounter {
    async fn on_progress(
        &self,
        told: rmcp::model::ProgressNotificationParam,
        _: rmcp::service::NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(told.progress);
    }
}

#[test]
fn a_client_hears_how_far_a_call_is() {
    let bench = TestDir::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let command = tokio::process::Command::from(bench.command(&["mcp"]));
        let counter = ProgressCounter::default();
        let transport = TokioChildProcess::new(command).unwrap();
        let client = counter.clone().serve(transport).await.unwrap();
        let arguments = json!({ "plan_toml": PLAN, "on": "sim" }).as_object().unwrap().clone();
        // The SDK gives each request a token of progress.
        let asked = CallToolRequestParams::new("run").with_arguments(arguments);
        client.call_tool(asked).await.unwrap();
        client.cancel().await.unwrap();
        let seen = counter.0.lock().unwrap().clone();
        assert_eq!(seen, [1.0, 2.0], "two cells");
    });
}
