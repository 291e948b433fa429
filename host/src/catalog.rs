//! The catalog: layers of agent types, skills and teams, merged field by field.
