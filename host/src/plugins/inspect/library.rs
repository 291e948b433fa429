//! The facts of a shared library, read from its bytes as ELF or Mach-O. The
//! bytes are hostile: nothing here trusts an offset, and nothing runs.

use std::fmt;

use object::macho::{FatArch32, FatArch64};
use object::read::elf::{ElfFile, FileHeader, SectionTable};
use object::read::macho::{FatArch, MachOFatFile};
use object::{
    Architecture, BinaryFormat, File, FileKind, Object, ObjectSection, ObjectSegment, ObjectSymbol,
};
use replio_plugin_abi::ROOT_SYMBOL;
use replio_plugin_abi::manifest::{ELF_SECTION, MACH_O_SECTION};

/// An operating system, as far as a library file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum System {
    Linux,
    MacOs,
    Windows,
    FreeBsd,
}

impl fmt::Display for System {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Linux => "Linux",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
            Self::FreeBsd => "FreeBSD",
        })
    }
}

/// A version of glibc, such as 2.34.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glibc(pub u32, pub u32);

impl Glibc {
    /// Reads `2.34`, or `2.34.1` without its last part.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| part.parse().ok());
        Some(Self(parts.next()??, parts.next()??))
    }
}

impl fmt::Display for Glibc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// What the file is, apart from what it says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The system it was built for.
    pub system: System,
    /// The processors it was built for, in Rust's words: `x86_64`, `aarch64`.
    pub processors: Vec<&'static str>,
    /// The newest glibc that it needs, where it needs one.
    pub glibc: Option<Glibc>,
    /// The libraries that it needs, by the names that the system's loader looks
    /// for; `None` where they are too odd to be told.
    pub libraries: Option<Vec<String>>,
    /// The manifest section, where it has one.
    pub manifest: Option<Vec<u8>>,
    /// Whether it exports the symbol through which a plugin is loaded.
    pub exports_root: bool,
}

/// Why bytes are no shared library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum NotALibrary {
    #[error("it is empty")]
    Empty,
    #[error("it is {0}")]
    Other(&'static str),
    #[error("it is truncated or damaged: {0}")]
    Damaged(String),
}

impl Library {
    /// Reads the facts from a file's bytes. Of a Mach-O file for several
    /// processors, the part for `processor` is read.
    ///
    /// # Errors
    /// When the bytes are no shared library, or one that is cut off.
    pub fn read(bytes: &[u8], processor: &str) -> Result<Self, NotALibrary> {
        if bytes.is_empty() {
            return Err(NotALibrary::Empty);
        }
        let kind = FileKind::parse(bytes).map_err(|_| NotALibrary::Other(other_kind(bytes)))?;
        match kind {
            FileKind::MachOFat32 => Self::read_fat::<FatArch32>(bytes, processor),
            FileKind::MachOFat64 => Self::read_fat::<FatArch64>(bytes, processor),
            FileKind::Elf32 | FileKind::Elf64 | FileKind::MachO32 | FileKind::MachO64 => {
                Self::read_one(bytes)
            }
            FileKind::Pe32 | FileKind::Pe64 => Ok(Self {
                system: System::Windows,
                processors: Vec::new(),
                glibc: None,
                libraries: None,
                manifest: None,
                exports_root: false,
            }),
            _ => Err(NotALibrary::Other(other_kind(bytes))),
        }
    }

    fn read_fat<Arch: FatArch>(bytes: &[u8], processor: &str) -> Result<Self, NotALibrary> {
        let fat = MachOFatFile::<Arch>::parse(bytes).map_err(damaged)?;
        let processors: Vec<_> =
            fat.arches().iter().map(|arch| processor_name(arch.architecture())).collect();
        let wanted = fat.arches().iter().find(|arch| processor_name(arch.architecture()) == processor);
        let Some(arch) = wanted.or_else(|| fat.arches().first()) else {
            return Err(NotALibrary::Damaged("it has no part for any processor".into()));
        };
        let mut library = Self::read_one(arch.data(bytes).map_err(damaged)?)?;
        library.processors = processors;
        Ok(library)
    }

    fn read_one(bytes: &[u8]) -> Result<Self, NotALibrary> {
        let file = File::parse(bytes).map_err(damaged)?;
        let size = bytes.len() as u64;
        for segment in file.segments() {
            let (offset, length) = segment.file_range();
            if offset.checked_add(length).is_none_or(|end| end > size) {
                return Err(NotALibrary::Damaged("a part of it lies behind the end of the file".into()));
            }
        }
        let (is_executable, glibc, libraries) = match &file {
            File::Elf32(elf) => (is_elf_program(elf), glibc_floor(elf)?, needed_libraries(elf)?),
            File::Elf64(elf) => (is_elf_program(elf), glibc_floor(elf)?, needed_libraries(elf)?),
            other => (other.kind() == object::ObjectKind::Executable, None, None),
        };
        if is_executable {
            return Err(NotALibrary::Other("a program"));
        }
        if file.kind() != object::ObjectKind::Dynamic {
            return Err(NotALibrary::Other("an object file (.o)"));
        }
        Ok(Self {
            system: system_of(&file, bytes),
            processors: vec![processor_name(file.architecture())],
            glibc,
            libraries,
            manifest: manifest_section(&file)?,
            exports_root: exports_root(&file)?,
        })
    }
}

fn damaged(error: object::Error) -> NotALibrary {
    NotALibrary::Damaged(error.to_string())
}

/// What a file that is no object file looks like, for the message.
fn other_kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => "a static library (.a or .rlib)",
        [0x7f, b'E', b'L', b'F', ..] => "the beginning of an ELF file, and no more",
        [b'#', b'!', ..] => "a script",
        [b'P', b'K', ..] => "a zip archive",
        [0x1f, 0x8b, ..] => "a gzip archive",
        _ if bytes.iter().take(512).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) => {
            "a text file"
        }
        _ => "neither ELF nor Mach-O",
    }
}

fn processor_name(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "x86_64",
        Architecture::Aarch64 => "aarch64",
        Architecture::I386 => "x86",
        Architecture::Arm => "arm",
        Architecture::Riscv64 => "riscv64",
        Architecture::PowerPc64 => "powerpc64",
        Architecture::S390x => "s390x",
        Architecture::LoongArch64 => "loongarch64",
        _ => "another processor",
    }
}

fn system_of(file: &File<'_>, bytes: &[u8]) -> System {
    match file.format() {
        BinaryFormat::MachO => System::MacOs,
        BinaryFormat::Elf if bytes.get(7) == Some(&object::elf::ELFOSABI_FREEBSD.0) => System::FreeBsd,
        _ => System::Linux,
    }
}

/// Position-independent programs look like shared libraries; what tells them
/// apart is that they name a program interpreter. (A library that can also be
/// started, such as glibc, does so too, and is no plugin either.)
fn is_elf_program<Elf: FileHeader>(file: &ElfFile<'_, Elf>) -> bool {
    use object::read::elf::ProgramHeader;
    let endian = file.endian();
    file.elf_header().e_type(endian) == object::elf::ET_EXEC
        || file.elf_program_headers().iter().any(|header| header.p_type(endian) == object::elf::PT_INTERP)
}

fn glibc_floor<Elf: FileHeader>(file: &ElfFile<'_, Elf>) -> Result<Option<Glibc>, NotALibrary> {
    let (endian, data) = (file.endian(), file.data());
    let sections: &SectionTable<'_, Elf> = file.elf_section_table();
    let Some((mut needs, link)) = sections.gnu_verneed(endian, data).map_err(damaged)? else {
        return Ok(None);
    };
    let strings = sections.strings(endian, data, link).map_err(damaged)?;
    let mut budget = Budget::default();
    let mut floor = None;
    while let Some((_, mut versions)) = needs.next().map_err(damaged)? {
        budget.spend(1)?;
        while let Some(version) = versions.next().map_err(damaged)? {
            let name = version.name(endian, strings).map_err(damaged)?;
            budget.spend(name.len())?;
            let parsed = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix("GLIBC_"));
            floor = floor.max(parsed.and_then(Glibc::parse));
        }
    }
    Ok(floor)
}

/// The names in the table for the system's loader. Nobody needs many, and they
/// are names of files.
fn needed_libraries<Elf: FileHeader>(file: &ElfFile<'_, Elf>) -> Result<Option<Vec<String>>, NotALibrary> {
    const MOST: usize = 100;
    const LONGEST: usize = 255;
    use object::read::elf::Dyn;
    let (endian, data) = (file.endian(), file.data());
    let sections: &SectionTable<'_, Elf> = file.elf_section_table();
    let Some((table, link)) = sections.dynamic(endian, data).map_err(damaged)? else { return Ok(None) };
    let strings = sections.strings(endian, data, link).map_err(damaged)?;
    let mut libraries = Vec::new();
    for entry in table.iter().filter(|entry| entry.tag(endian) == object::elf::DT_NEEDED) {
        let name = entry.string(endian, strings).map_err(damaged)?;
        let Ok(name) = std::str::from_utf8(name) else { return Ok(None) };
        if libraries.len() == MOST || name.len() > LONGEST {
            return Ok(None);
        }
        libraries.push(name.to_owned());
    }
    Ok(Some(libraries))
}

fn manifest_section(file: &File<'_>) -> Result<Option<Vec<u8>>, NotALibrary> {
    let wanted = if file.format() == BinaryFormat::MachO { MACH_O_SECTION } else { ELF_SECTION };
    let mut budget = Budget::default();
    let mut found = None;
    for section in file.sections() {
        let name = section.name_bytes().map_err(damaged)?;
        budget.spend(name.len())?;
        if name != wanted.as_bytes() {
            continue;
        }
        if found.is_some() {
            return Err(NotALibrary::Damaged(format!("it has the section {wanted} twice")));
        }
        found = Some(section.data().map_err(damaged)?.to_vec());
    }
    Ok(found)
}

/// Whether the library exports the plugin symbol. Of a Mach-O file the symbol
/// table is read and not the export trie, which may be made to have no end.
fn exports_root(file: &File<'_>) -> Result<bool, NotALibrary> {
    let mut budget = Budget::default();
    let is_mach_o = file.format() == BinaryFormat::MachO;
    let symbols = if is_mach_o { file.symbols() } else { file.dynamic_symbols() };
    for symbol in symbols.filter(|symbol| symbol.is_definition() && symbol.is_global()) {
        let name = symbol.name_bytes().map_err(damaged)?;
        budget.spend(name.len())?;
        // Mach-O puts a `_` before each C name.
        let name = if is_mach_o { name.strip_prefix(b"_").unwrap_or_default() } else { name };
        if name == ROOT_SYMBOL.as_bytes() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What reading tables of names may cost. Names may overlap, so a small file can
/// hold more of them than anyone can read.
struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(64 * 1024 * 1024)
    }
}

impl Budget {
    /// Pays for reading a name of this length.
    fn spend(&mut self, length: usize) -> Result<(), NotALibrary> {
        let too_much = || NotALibrary::Damaged("its tables of names have no bearable end".into());
        self.0 = self.0.checked_sub(length + 16).ok_or_else(too_much)?;
        Ok(())
    }
}
