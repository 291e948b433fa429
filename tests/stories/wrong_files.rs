//! Whatever is given instead of a plugin for this system is told for what it
//! is, before any of it runs, and changes nothing.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use replio_tests::{Plugin, World, replaced, tree};

fn audit() -> Plugin {
    Plugin::with_hooks("audit", r#"registry.add_plugin(AgentType::new("auditor"))"#, "", "")
}

fn bytes() -> Vec<u8> {
    fs::read(audit().build()).unwrap()
}

/// What `install` and `inspect` say of these files, and that they agree.
fn refused(world: &World, names: &[&str]) -> String {
    let before = tree(&world.root());
    let mut story = String::new();
    for name in names {
        let path = world.path(name);
        let path = path.to_str().unwrap();
        let (install, inspect) =
            (world.run(&["plugins", "install", path]), world.run(&["plugins", "inspect", path]));
        assert_eq!((install.code, install.stdout.as_str()), (1, ""), "{install}");
        if inspect.code != 0 && fs::symlink_metadata(path).is_ok_and(|it| !it.is_dir()) {
            assert_eq!(inspect.stderr, install.stderr);
        }
        story += &format!("{name}\n{}\n", install.stderr);
    }
    assert_eq!(tree(&world.root()), before, "nothing was changed");
    story
}

#[test]
fn what_is_no_shared_library_is_told_for_what_it_is() {
    let world = World::new();
    let write = |name: &str, bytes: &[u8]| world.write(&world.path(name), bytes);
    write("text.so", b"this is no library\n");
    write("empty.so", b"");
    write("archive.so", b"PK\x03\x04 and so on");
    write("tarball.so", b"\x1f\x8b\x08\x00 and so on");
    write("script.so", b"#!/bin/sh\nexit 0\n");
    write("static.so", b"!<arch>\nlib.rmeta/ 0 0 0 644 4 `\nrust");
    write("noise.so", &[0x93; 5000]);
    fs::copy("/proc/self/exe", world.path("program.so")).unwrap();
    fs::create_dir(world.path("folder")).unwrap();
    symlink("nowhere", world.path("dangling.so")).unwrap();
    symlink("round.so", world.path("round.so")).unwrap();
    symlink("/dev/zero", world.path("device.so")).unwrap();
    assert!(Command::new("mkfifo").arg(world.path("fifo.so")).status().unwrap().success());
    let names = [
        "text.so",
        "empty.so",
        "archive.so",
        "tarball.so",
        "script.so",
        "static.so",
        "noise.so",
        "program.so",
        "folder",
        "dangling.so",
        "round.so",
        "device.so",
        "fifo.so",
        "not-there.so",
        "text.so/below",
    ];
    insta::assert_snapshot!(refused(&world, &names));
}

#[test]
fn what_is_a_library_and_no_plugin_for_this_system_says_why() {
    let world = World::new();
    let bytes = bytes();
    let write = |name: &str, bytes: &[u8]| world.write(&world.path(name), bytes);
    let patched = |name: &str, at: usize, with: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        write(name, &bytes);
    };
    let plain = Plugin::new("plain", "#[no_mangle]\npub extern \"C\" fn nothing() {}\n").build();
    fs::copy(plain, world.path("no-plugin.so")).unwrap();
    let (processor, other): (&[u8], &[u8]) =
        if cfg!(target_arch = "x86_64") { (&[62, 0], &[183, 0]) } else { (&[183, 0], &[62, 0]) };
    assert_eq!(&bytes[18..20], processor);
    patched("other-processor.so", 18, other);
    patched("unknown-processor.so", 18, &[0xfe, 0xca]);
    patched("freebsd.so", 7, &[9]);
    patched("object.so", 16, &[1, 0]);
    write("newer-glibc.so", &newer_glibc(&bytes));
    let manifest =
        |name: &str, from: &str, to: &str| write(name, &replaced(&bytes, from.as_bytes(), to.as_bytes()));
    manifest("newer-abi.so", "abi=1.0.0", "abi=2.0.0");
    manifest("older-abi.so", "abi=1.0.0", "abi=0.9.0");
    manifest("abi-no-version.so", "abi=1.0.0", "abi=1.0.x");
    manifest("version-no-version.so", "version=1.0.0", "version=1,0,0");
    manifest("api-no-version.so", "api=1.0.0", "api=one.0");
    manifest("path-as-name.so", "name=audit\n", "name=../..\n");
    manifest("escapes-as-name.so", "name=audit\n", "name=\u{1b}[2Jx\n");
    manifest("no-name.so", "name=audit\n", "nome=audit\n");
    manifest("name-twice.so", "version=1.0.0\nabi", "abi=1.0.0\nxx=\nabi");
    manifest("no-line.so", "name=audit\n", "name:audit\n");
    manifest("cut-escape.so", "name=audit\n", "name=audi\\\n");
    write("not-utf8.so", &replaced(&bytes, b"name=audit\n", b"name=audi\xff\n"));
    write("other-format.so", &replaced(&bytes, b"REPLIO\0\x01", b"REPLIO\0\x02"));
    write("other-magic.so", &replaced(&bytes, b"REPLIO\0\x01", b"REPLIA\0\x01"));
    write("long-manifest.so", &with_length(&bytes, 1 << 20));
    write("short-manifest.so", &with_length(&bytes, 12));
    write("beyond-manifest.so", &with_length(&bytes, 16 * 1024));
    write(
        "no-root.so",
        &replaced(
            &bytes,
            b"_1as_0lib_1header_0root_bmodule_bloader",
            b"_1as_0lib_1header_0root_bmodule_bloadex",
        ),
    );
    write("windows.so", &windows());
    write("macos.so", &macos(b""));
    write("macos-plugin.dylib", &macos(&manifest_of(&bytes)));
    let source = "use replio_plugin_api::*;\nstruct P;\nimpl Plugin for P {}\nexport_plugin!(P, replio: \">=99, <100\");\n";
    let newer_host = fs::read(Plugin::new("newer-host", source).build()).unwrap();
    write("newer-host.so", &newer_host);
    write("odd-host.so", &replaced(&newer_host, b"replio=>=99, <100", b"replio=no version"));
    let names = [
        "no-plugin.so",
        "no-root.so",
        "object.so",
        "other-processor.so",
        "unknown-processor.so",
        "freebsd.so",
        "windows.so",
        "macos.so",
        "macos-plugin.dylib",
        "newer-glibc.so",
        "newer-abi.so",
        "older-abi.so",
        "newer-host.so",
        "odd-host.so",
        "abi-no-version.so",
        "version-no-version.so",
        "api-no-version.so",
        "path-as-name.so",
        "escapes-as-name.so",
        "no-name.so",
        "name-twice.so",
        "no-line.so",
        "cut-escape.so",
        "not-utf8.so",
        "other-format.so",
        "other-magic.so",
        "long-manifest.so",
        "short-manifest.so",
        "beyond-manifest.so",
    ];
    insta::assert_snapshot!(glibc_redacted(&refused(&world, &names)));
}

#[test]
fn a_file_that_is_larger_than_any_library_is_not_read() {
    let world = World::new();
    let file = world.path("huge.so");
    fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    let ran = world.run(&["plugins", "install", file.to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran);
}

#[test]
fn a_plugin_for_another_system_can_still_be_inspected() {
    let world = World::new();
    let file = world.path("audit.so");
    world.write(&file, replaced(&bytes(), b"abi=1.0.0", b"abi=2.0.0"));
    let ran = world.ok(&["plugins", "inspect", file.to_str().unwrap()]);
    assert!(ran.stdout.contains("does not load here"), "{ran}");
    let inspected = &world.json(&["plugins", "inspect", file.to_str().unwrap()])["plugin"];
    assert_eq!((&inspected["status"], &inspected["abi"]), (&"incompatible".into(), &"2.0.0".into()));
    assert_eq!(inspected["help"], "update replio");
    assert_eq!(tree(&world.local()).len(), 0, "nothing of it ran or was kept");
}

#[test]
fn every_cut_of_a_plugin_is_refused_as_a_cut() {
    let world = World::new();
    let whole = bytes();
    let file = world.path("cut.so");
    let mut lengths: Vec<usize> = (1..40).map(|step| whole.len() * step / 40).collect();
    lengths.extend([1, 4, 15, 16, 63, 64, 65, 120, whole.len() - 1]);
    for length in lengths {
        world.write(&file, &whole[..length]);
        let error = world.error(&["plugins", "install", file.to_str().unwrap()]);
        assert_eq!(error["code"], "not-a-library", "{length} of {}: {error}", whole.len());
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("cut.so"), "{length}: {message}");
        if length >= 64 {
            assert!(message.contains("truncated or damaged"), "{length}: {message}");
            assert!(error["help"].as_str().unwrap().contains("not whole"), "{length}: {error}");
        }
    }
    assert!(!world.local().exists());
}

#[test]
fn a_library_that_the_plugin_needs_and_is_not_there_is_named() {
    let world = World::new();
    let file = world.path("audit.so");
    world.write(&file, replaced(&bytes(), b"libgcc_s.so.1", b"libaudio.so.7"));
    let ran = world.run(&["plugins", "install", file.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran}");
    insta::assert_snapshot!(ran);
    assert_eq!(world.standing(), Vec::<String>::new());
}

/// The newest glibc that it needs becomes one that nobody has.
fn newer_glibc(bytes: &[u8]) -> Vec<u8> {
    let versions = bytes.windows(11).filter(|text| text.starts_with(b"GLIBC_2.") && text[10] == 0);
    let version = versions.max().expect("it needs some glibc").to_vec();
    replaced(bytes, &version, b"GLIBC_2.99\0")
}

/// What this system has differs from one to another.
fn glibc_redacted(story: &str) -> String {
    let mut redacted = String::new();
    for line in story.lines() {
        let line = match line.split_once("glibc 2.99, and this system has ") {
            Some((before, _)) => format!("{before}glibc 2.99, and this system has [glibc]"),
            None => match line.split_once("(glibc ") {
                Some((before, _)) => format!("{before}(glibc [glibc] or older)"),
                None => line.to_owned(),
            },
        };
        redacted += &(line + "\n");
    }
    redacted
}

/// The manifest says that its body has another length.
fn with_length(bytes: &[u8], length: u32) -> Vec<u8> {
    let at = bytes.windows(8).position(|bytes| bytes == b"REPLIO\0\x01").unwrap() + 8;
    let mut bytes = bytes.to_vec();
    bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// The least that is a library for Windows.
fn windows() -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3c] = 0x80;
    bytes[0x80..0x84].copy_from_slice(b"PE\0\0");
    bytes[0x84..0x86].copy_from_slice(&[0x64, 0x86]);
    bytes[0x94] = 0xf0;
    bytes[0x98..0x9a].copy_from_slice(&[0x0b, 0x02]);
    bytes
}

/// The section of a plugin's manifest.
fn manifest_of(bytes: &[u8]) -> Vec<u8> {
    let at = bytes.windows(8).position(|bytes| bytes == b"REPLIO\0\x01").unwrap();
    let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap());
    bytes[at..at + 12 + length as usize].to_vec()
}

/// The least that is a library for macOS: its head, and where there is a
/// manifest, the section with it and the symbol that a plugin exports.
fn macos(manifest: &[u8]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let name = |name: &str| [name.as_bytes(), &[0; 16][name.len()..]].concat();
    if manifest.is_empty() {
        return words(&[0xfeed_facf, 0x0100_000c, 0, 6, 0, 0, 0, 0]);
    }
    let (commands, size) = (32, 152 + 24);
    let length = u32::try_from(manifest.len()).unwrap();
    let (data, symbol) = (commands + size, commands + size + length);
    let names = b"\0__1as_0lib_1header_0root_bmodule_bloader\0";
    let whole = symbol + 16 + u32::try_from(names.len()).unwrap();
    [
        words(&[0xfeed_facf, 0x0100_000c, 0, 6, 2, size, 0, 0]),
        // A segment of one section.
        words(&[0x19, 152]),
        name("__DATA"),
        words(&[0, 0, whole, 0, 0, 0, whole, 0, 3, 3, 1, 0]),
        name("__replio"),
        name("__DATA"),
        words(&[data, 0, length, 0, data, 0, 0, 0, 0, 0, 0, 0]),
        // The table of symbols.
        words(&[0x2, 24, symbol, 1, symbol + 16, u32::try_from(names.len()).unwrap()]),
        manifest.to_vec(),
        words(&[1]),
        vec![0x0f, 1, 0, 0],
        words(&[data, 0]),
        names.to_vec(),
    ]
    .concat()
}
