//! How long ten thousand types take: to read, to merge over four layers, to
//! find one of; and five thousand skill files.

use std::fmt::Write;
use std::hint::black_box;

use replio::catalog::{
    Kind, Origin, Scope, Stack, loosened_types, read_bundled, read_entries_file, read_entries_text,
    read_skills_folder,
};

const TYPES: usize = 10_000;

fn main() {
    divan::main();
}

/// A `types.json` of about six megabytes.
fn types_json(model: &str) -> String {
    let mut text = String::from("{\n");
    for number in 0..TYPES {
        let comma = if number == 0 { "" } else { ",\n" };
        // Not in alphabetical order.
        let name = number * 7919 % TYPES;
        let prompt = "You do one thing, and you do it well. ".repeat(10);
        write!(
            text,
            "{comma}  \"type-{name}\": {{\n    \"system_prompt\": \"{prompt}\",\n    \"model\": \"{model}\",\n    \
             \"tags\": [\"one\", \"two\"],\n    \"tool_permission\": {{ \"bash\": \"deny\", \"web\": \"allow\" }}\n  }}"
        )
        .expect("a String takes all that is written");
    }
    text + "\n}\n"
}

fn stack() -> Stack {
    let plugin = Origin::Plugin { name: "audit".parse().expect("a name"), scope: Scope::Global };
    let origins = [Origin::Bundled, plugin, Origin::Global, Origin::Local];
    let layer = |origin: Origin| read_entries_text(Kind::Type, types_json(origin.layer()), origin, None).0;
    Stack::new(Kind::Type, origins.map(layer))
}

#[divan::bench]
fn read_and_list_a_file(bencher: divan::Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("types.json");
    std::fs::write(&path, types_json("m")).expect("the file is written");
    bencher.bench(|| {
        let (layer, _) = read_entries_file(Kind::Type, &path, Origin::Local);
        let stack = Stack::new(Kind::Type, [layer]);
        stack.all().iter().map(|resolved| resolved.agent_type().tags.len()).sum::<usize>()
    });
}

#[divan::bench]
fn merge_four_layers(bencher: divan::Bencher<'_, '_>) {
    let stack = stack();
    bencher.bench_local(|| {
        let fields = stack.all().into_iter().map(|resolved| {
            Kind::Type.fields().iter().filter(|field| black_box(resolved.value(field)).is_some()).count()
                + resolved.permission().len()
        });
        fields.sum::<usize>()
    });
}

#[divan::bench]
fn merge_four_layers_with_what_they_hide(bencher: divan::Bencher<'_, '_>) {
    let stack = stack();
    bencher.bench_local(|| {
        let shown =
            stack.all().into_iter().map(|resolved| resolved.fields().len() + resolved.categories().len());
        shown.sum::<usize>()
    });
}

#[divan::bench]
fn find_one_of_four_layers(bencher: divan::Bencher<'_, '_>) {
    let stack = stack();
    bencher.bench_local(|| black_box(stack.resolve("type-77").map(|resolved| resolved.agent_type()).is_ok()));
}

#[divan::bench]
fn what_a_file_of_new_types_loosens(bencher: divan::Bencher<'_, '_>) {
    let local = read_entries_text(Kind::Type, types_json("m"), Origin::Local, None).0;
    let below = [read_bundled(Kind::Type)];
    bencher.bench_local(|| loosened_types(&local, &below).len());
}

#[divan::bench]
fn what_one_layer_loosens_of_three_that_have_all_its_types(bencher: divan::Bencher<'_, '_>) {
    let stack = stack();
    bencher.bench_local(|| loosened_types(&stack.layers()[3], &stack.layers()[..3]).len());
}

#[divan::bench]
fn read_five_thousand_skill_files(bencher: divan::Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for number in 0..5000 {
        let path = folder.path().join(format!("skill-{number}.md"));
        std::fs::write(path, "# A skill\n\nDo it so.\n".repeat(20)).expect("the file is written");
    }
    bencher.bench_local(|| read_skills_folder(folder.path(), Origin::Local).0.entries.len());
}
