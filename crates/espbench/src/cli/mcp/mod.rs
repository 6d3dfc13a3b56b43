//! `espbench mcp`: a server of the Model Context Protocol over stdin and stdout.
//!
//! | module | contents |
//! |---|---|
//! | `arguments` | arguments of a call as its tool reads them, and errors that name them |
//! | `ask` | arguments of the tools, with their schemas, and the commands that they become |
//! | `child` | espbench as a child process, whose JSON is the answer |
//! | `lines` | lines of the client, and errors for those that are none of the protocol |
//! | `results` | answers with results |
//! | `told` | the other answers, with their schemas |
//! | `words` | words that an argument may have |
//!
//! A tool call becomes one command of this same program in a process of its own: a call that is cancelled is ended with
//! all its threads, one that fails takes nothing with it, and an answer is what the command prints as JSON. Nothing is
//! asked of a shell: each value of the caller's is one argument.

mod arguments;
mod ask;
mod child;
mod lines;
mod results;
mod told;
mod words;

use crate::cli::thread;
use crate::user_error::{ForUser as _, UserError};
use arguments::Arguments;
use ask::{CheckAsked, CompareAsked, DoctorAsked, PredictAsked, ReadAsked, RunAsked, TuneAsked};
use child::Child;
use espbench_model::speech::{self, Asker};
use results::{ComparedTold, ResultsTold};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::service::RequestContext;
use rmcp::{Json, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use std::path::PathBuf;
use std::process::ExitCode;
use told::{CheckTold, DoctorTold, PredictTold, TuneTold};

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The database of runs [default: runs.sqlite in the user's data folder]
    #[arg(long, value_name = "FILE", env = "ESPBENCH_STORE")]
    store: Option<PathBuf>,
}

/// Runs the subcommand until the client closes stdin.
///
/// # Errors
/// The client does not speak the protocol.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // What it reads of reports it tells of arguments, as its children do.
    speech::speak_to(Asker::Caller);
    let what = || "the server cannot run".to_owned();
    // The runtime reads stdin by a thread of its own, and panics where there is none.
    let _ = thread::start("stdin", || ())?.join();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.for_user(what, "start it again")?;
    let child = Child::new(args.store.clone())?;
    let served = runtime.block_on(async {
        let (pipes, written) = lines::pipes();
        let served = async {
            let server = EspbenchServer { child }.serve(pipes).await;
            let server = server.map_err(|error| error.to_string())?;
            server.waiting().await.map_err(|error| error.to_string())
        };
        let served = served.await;
        // The last answers.
        let _ = written.await;
        served
    });
    // A read of stdin that nobody waits for any more would keep the process.
    runtime.shutdown_background();
    served.map_err(|why| {
        UserError::new("the client does not speak the Model Context Protocol")
            .because(why)
            .remedy("start `espbench mcp` as a server over stdio from a client: docs/mcp.md")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The server.
#[derive(Clone, Debug)]
struct EspbenchServer {
    child: Child,
}

type Context = RequestContext<RoleServer>;

#[tool_router]
impl EspbenchServer {
    /// Checks an sdkconfig of ESP-IDF: wrong values, what limits throughput, heap, and the one setting that gives most.
    /// What the lab adds is simulated.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn check(
        &self,
        Parameters(asked): Parameters<Arguments<CheckAsked>>,
        context: Context,
    ) -> Result<Json<CheckTold>, String> {
        let asked = asked.read()?;
        let full = asked.full;
        self.child.ask(asked.command(), &full, &context).await
    }

    /// Predicts loss, latency and battery life of a fleet of ESP-NOW devices that all send to one, or the largest fleet that
    /// keeps limits. Every figure is simulated, and has a 95 % interval.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn predict(
        &self,
        Parameters(asked): Parameters<Arguments<PredictAsked>>,
        context: Context,
    ) -> Result<Json<PredictTold>, String> {
        let asked = asked.read()?;
        let full = asked.full;
        self.child.ask(asked.command(), &full, &context).await
    }

    /// Searches firmware settings (sdkconfig) that reach goals such as tcp-tx>=20Mbit/s or heap>=100KB, in the virtual lab.
    /// Takes a minute or more.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn tune(
        &self,
        Parameters(asked): Parameters<Arguments<TuneAsked>>,
        context: Context,
    ) -> Result<Json<TuneTold>, String> {
        let asked = asked.read()?;
        let full = asked.full;
        self.child.ask(asked.command()?, &full, &context).await
    }

    /// Finds the cause of trouble in console logs and sdkconfig files: disconnections, crashes, memory, refused sends;
    /// with evidence and remedy. Says so where the files cannot tell.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn doctor(
        &self,
        Parameters(asked): Parameters<Arguments<DoctorAsked>>,
        context: Context,
    ) -> Result<Json<DoctorTold>, String> {
        let asked = asked.read()?;
        let full = asked.full;
        self.child.ask(asked.command()?, &full, &context).await
    }

    /// Carries a plan out, in the virtual lab or on real devices, and stores the run. Answers with the figures that lead, in at most 4 kB;
    /// `metrics` or `full` give others. Results have value, unit, 95 % interval and origin (measured or simulated).
    #[tool(annotations(read_only_hint = false, destructive_hint = false))]
    async fn run(
        &self,
        Parameters(asked): Parameters<Arguments<RunAsked>>,
        context: Context,
    ) -> Result<Json<ResultsTold>, String> {
        let asked = asked.read()?;
        let wanted = asked.wanted();
        self.child.ask(asked.command()?, &wanted, &context).await
    }

    /// Reads the results of a stored run by its name; `last` is the newest, `last~1` the one before.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn read(
        &self,
        Parameters(asked): Parameters<Arguments<ReadAsked>>,
        context: Context,
    ) -> Result<Json<ResultsTold>, String> {
        let asked = asked.read()?;
        let wanted = asked.wanted();
        self.child.ask(asked.command(), &wanted, &context).await
    }

    /// Compares a run with another, or with published figures: the pairs that differ most first, each with a verdict that its
    /// intervals show. A pair that is not comparable says why.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn compare(
        &self,
        Parameters(asked): Parameters<Arguments<CompareAsked>>,
        context: Context,
    ) -> Result<Json<ComparedTold>, String> {
        let asked = asked.read()?;
        let full = asked.full;
        self.child.ask(asked.command(), &full, &context).await
    }
}

#[tool_handler(
    name = "espbench",
    instructions = "espbench measures, predicts and tunes wireless links of ESP32-class devices. Each figure says whether it is measured or \
                    simulated and has a 95 % interval: quote both. null is unknown, not zero. An error says what failed, why, \
                    and what to do; do not guess a figure in its place."
)]
impl ServerHandler for EspbenchServer {}
