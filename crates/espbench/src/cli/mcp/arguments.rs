//! Arguments of a call as its tool reads them: what is unambiguous is taken in another form than the schema's (a number as
//! a text, a text as the only one of a list), and an error says which argument it is of and what it must be.

use espbench_model::text::meant;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// Arguments of a tool, or what is wrong with them.
#[derive(Debug)]
pub(super) struct Arguments<T>(Result<T, ArgumentError>);

impl<T> Arguments<T> {
    /// Returns the arguments.
    ///
    /// # Errors
    /// One of them is wrong, missing, or not the tool's.
    pub(super) fn read(self) -> Result<T, String> {
        self.0.map_err(|wrong| wrong.text)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Arguments<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Map::deserialize(deserializer)?;
        let named = all.into_iter().map(|(name, value)| {
            let argument = Argument { name: name.clone(), value };
            (name, argument)
        });
        Ok(Self(T::deserialize(MapDeserializer::new(named))))
    }
}

impl<T: JsonSchema> JsonSchema for Arguments<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Mistake in the arguments, in words for whoever gave them.
#[derive(Debug)]
pub(super) struct ArgumentError {
    text: String,
    /// Whether the text says of which argument it is.
    is_named: bool,
}

impl ArgumentError {
    const fn named(text: String) -> Self {
        Self { text, is_named: true }
    }

    /// Says of which argument it is, unless it does.
    fn of(self, name: &str) -> Self {
        if self.is_named { self } else { Self::named(format!("`{name}` {}", self.text)) }
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ArgumentError {}

impl serde::de::Error for ArgumentError {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self { text: message.to_string(), is_named: false }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::named(format!("`{field}` is missing\n  do: give `{field}`"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let remedy = match meant(field, expected) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", expected.join(", ")),
        };
        Self::named(format!("there is no argument `{field}`\n  do: {remedy}"))
    }
}

/// An argument.
struct Argument {
    name: String,
    value: Value,
}

impl Argument {
    fn wrong(&self, wanted: impl fmt::Display) -> ArgumentError {
        let Self { name, value } = self;
        ArgumentError::named(format!("`{name}` cannot be {value}\n  do: give {wanted}"))
    }

    /// Returns a whole number up to `most`.
    fn whole(&self, most: u64) -> Result<u64, ArgumentError> {
        let read = match &self.value {
            Value::String(text) => text.trim().parse().ok(),
            value => value.as_u64().or_else(|| value.as_f64().and_then(of_float)),
        };
        read.filter(|it| *it <= most)
            .ok_or_else(|| self.wrong(format_args!("a whole number from 0 to {most}")))
    }
}

/// Returns a float that is a whole number which floats tell from its neighbours.
fn of_float(number: f64) -> Option<u64> {
    let exact = (0.0..=9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0;
    exact.then_some(number as u64)
}

impl IntoDeserializer<'_, ArgumentError> for Argument {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Argument {
    type Error = ArgumentError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        let name = self.name;
        let told = |wrong| ArgumentError::named(format!("`{name}` {wrong}"));
        self.value.deserialize_any(visitor).map_err(told)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        if self.value.is_null() {
            return visitor.visit_none();
        }
        let name = self.name.clone();
        visitor.visit_some(self).map_err(|wrong: ArgumentError| wrong.of(&name))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        match self.value {
            Value::String(text) => visitor.visit_string(text),
            Value::Number(number) => visitor.visit_string(number.to_string()),
            _ => Err(self.wrong("a text")),
        }
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        visitor.visit_u64(self.whole(u16::MAX.into())?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        visitor.visit_u64(self.whole(u32::MAX.into())?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        visitor.visit_u64(self.whole(u64::MAX)?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        match &self.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::String(text) if text == "true" || text == "false" => {
                visitor.visit_bool(text == "true")
            }
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        let values = match self.value {
            Value::Array(values) => values,
            text @ Value::String(_) => vec![text],
            _ => return Err(self.wrong("a list of texts")),
        };
        let of_it = |value| Self { name: self.name.clone(), value };
        visitor.visit_seq(SeqDeserializer::new(values.into_iter().map(of_it)))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u128 f32 f64 char str bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

/// One or several whole numbers, as a command takes them: `60`, `10,30,60`, `1..200`.
#[derive(Debug)]
pub(super) struct WholeNumbers(String);

impl fmt::Display for WholeNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WholeNumbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let one = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(it) => Some(
                it.as_f64().and_then(of_float).map_or_else(|| it.to_string(), |it| it.to_string()),
            ),
            _ => None,
        };
        let read = match &value {
            Value::Array(values) => {
                values.iter().map(one).collect::<Option<Vec<_>>>().map(|it| it.join(","))
            }
            value => one(value),
        };
        let wanted = "a whole number, a list of them, or a text such as \"1..200\"";
        let wrong = || D::Error::custom(format_args!("cannot be {value}\n  do: give {wanted}"));
        read.map(Self).ok_or_else(wrong)
    }
}

impl JsonSchema for WholeNumbers {
    fn schema_name() -> Cow<'static, str> {
        "WholeNumbers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let whole = schemars::json_schema!({ "type": "integer", "minimum": 0 });
        schemars::json_schema!({ "anyOf": [
            whole,
            { "type": "array", "items": whole },
            { "type": "string", "description": "Several numbers, such as 1..200." },
        ]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        every: String,
        payload: Option<u32>,
        devices: Option<WholeNumbers>,
        #[serde(default)]
        metrics: Vec<String>,
        #[serde(default)]
        full: bool,
    }

    fn read(arguments: Value) -> Result<Asked, String> {
        serde_json::from_value::<Arguments<Asked>>(arguments).unwrap().read()
    }

    #[test]
    fn what_is_unambiguous_is_taken() {
        let asked = read(json!({
            "every": 2, "payload": "5000", "devices": [10, 30.0], "metrics": "loss", "full": "true",
        }));
        let asked = asked.unwrap();
        assert_eq!((&*asked.every, asked.payload, asked.full), ("2", Some(5000), true));
        assert_eq!(asked.devices.unwrap().to_string(), "10,30");
        assert_eq!(asked.metrics, ["loss"]);
        let asked = read(json!({ "every": "5s", "payload": 100.0, "devices": null })).unwrap();
        assert_eq!((asked.payload, asked.devices.is_none()), (Some(100), true));
    }

    #[test]
    fn an_error_says_which_argument_and_what_it_must_be() {
        for (arguments, wanted) in [
            (json!({}), "`every` is missing"),
            (json!({ "every": [2] }), "`every` cannot be [2]\n  do: give a text"),
            (
                json!({ "every": "1s", "payload": 5.5 }),
                "`payload` cannot be 5.5\n  do: give a whole number from 0 to 4294967295",
            ),
            (json!({ "every": "1s", "payload": -5 }), "`payload` cannot be -5"),
            (json!({ "every": "1s", "payload": "many" }), "`payload` cannot be \"many\""),
            (
                json!({ "every": "1s", "devices": true }),
                "`devices` cannot be true\n  do: give a whole number, a list",
            ),
            (
                json!({ "every": "1s", "metrics": [["loss"]] }),
                "`metrics` cannot be [\"loss\"]\n  do: give a text",
            ),
            (json!({ "every": "1s", "full": 2 }), "`full` cannot be 2\n  do: give true or false"),
            (
                json!({ "every": "1s", "paylod": 2 }),
                "there is no argument `paylod`\n  do: did you mean `payload`?",
            ),
        ] {
            let told = read(arguments).unwrap_err();
            assert!(told.starts_with(wanted), "{told}");
        }
    }
}
