//! Serial ports with their USB ids, and which bridge each is.

use super::super::output;
use crate::say::say;
use crate::serial::ports::{self, BoardPort, UsbBridge};
use crate::serial::reset::ResetCircuit;
use clap::ValueEnum;
use serde::Serialize;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Format of the list
    #[arg(long, value_enum, default_value_t)]
    format: ListFormat,
}

/// How the list is drawn.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum ListFormat {
    /// A table
    #[default]
    Text,
    /// An array with an object for each port
    Json,
    /// A row for each port
    Csv,
}

/// Row of the list, as JSON and CSV have it.
#[derive(Debug, Serialize)]
struct PortRow<'a> {
    port: &'a str,
    usb: Option<String>,
    bridge: Option<UsbBridge>,
    reset: Option<ResetCircuit>,
    product: Option<&'a str>,
    serial: Option<&'a str>,
    location: Option<&'a str>,
}

impl<'a> PortRow<'a> {
    fn of(port: &'a BoardPort) -> Self {
        let usb = port.usb.as_ref();
        Self {
            port: &port.name,
            usb: usb.map(|it| it.id.to_string()),
            bridge: port.bridge(),
            reset: port.bridge().map(UsbBridge::circuit),
            product: usb.and_then(|it| it.product.as_deref()),
            serial: usb.and_then(|it| it.serial.as_deref()),
            location: usb.and_then(|it| it.location.as_deref()),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let ports = ports::list()?;
    if ports.is_empty() && matches!(args.format, ListFormat::Text) {
        say!("no serial ports: plug a board in with a cable that carries data, not power alone");
        return Ok(());
    }
    output::print(&draw(&ports, args.format)?)
}

fn draw(ports: &[BoardPort], format: ListFormat) -> anyhow::Result<String> {
    let rows: Vec<PortRow> = ports.iter().map(PortRow::of).collect();
    Ok(match format {
        ListFormat::Text => table(&rows),
        ListFormat::Json => crate::render::json::pretty(&rows)?,
        ListFormat::Csv => {
            let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
            writer.write_record([
                "port", "usb", "bridge", "reset", "product", "serial", "location",
            ])?;
            for row in &rows {
                writer.serialize(row)?;
            }
            String::from_utf8(writer.into_inner()?)?
        }
    })
}

fn table(rows: &[PortRow]) -> String {
    // All columns in one table of at most 96 characters: the product's name is in CSV and JSON.
    let columns = ["port", "usb", "bridge", "reset", "serial", "location"];
    let cells = |row: &PortRow| {
        let own = |text: Option<&str>| text.map(str::to_owned);
        vec![
            own(Some(row.port)),
            row.usb.clone(),
            own(row.bridge.map(UsbBridge::word)),
            own(row.reset.map(ResetCircuit::word)),
            own(row.serial),
            own(row.location),
        ]
    };
    super::drawn("ports", columns, rows.iter().map(cells).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serial::ports::{UsbDevice, UsbId};

    fn ports() -> Vec<BoardPort> {
        let usb = |vendor, product, name: &str, serial: Option<&str>| {
            Some(UsbDevice {
                id: UsbId { vendor, product },
                serial: serial.map(Into::into),
                product: Some(name.into()),
                location: Some("1-4.2".into()),
            })
        };
        vec![
            BoardPort {
                name: "/dev/ttyACM0".into(),
                usb: usb(0x303a, 0x1001, "USB JTAG/serial debug unit", Some("60:55:F9:00:00:01")),
            },
            BoardPort {
                name: "/dev/ttyUSB0".into(),
                usb: usb(0x10c4, 0xea60, "CP2102N, \"USB\" to UART", None),
            },
            BoardPort::named("/dev/ttyS0"),
        ]
    }

    #[test]
    fn a_table_has_a_row_for_each_port() {
        insta::assert_snapshot!(draw(&ports(), ListFormat::Text).unwrap());
    }

    #[test]
    fn csv_and_json_have_the_same_fields() {
        insta::assert_snapshot!(draw(&ports(), ListFormat::Csv).unwrap(), @r#"
        port,usb,bridge,reset,product,serial,location
        /dev/ttyACM0,303a:1001,usb-serial-jtag,usb-serial-jtag,USB JTAG/serial debug unit,60:55:F9:00:00:01,1-4.2
        /dev/ttyUSB0,10c4:ea60,cp210x,classic,"CP2102N, ""USB"" to UART",,1-4.2
        /dev/ttyS0,,,,,,
        "#);
        let json = draw(&ports(), ListFormat::Json).unwrap();
        let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(rows[0]["bridge"], "usb-serial-jtag");
        assert_eq!(rows[2]["usb"], serde_json::Value::Null);
        let keys: Vec<&String> = rows[1].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["port", "usb", "bridge", "reset", "product", "serial", "location"]);
        assert_eq!(draw(&[], ListFormat::Json).unwrap(), "[]\n");
    }
}
