//! Puts places, plugin layer and catalog together for one command, and opens
//! of them only what the command needs.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use indexmap::IndexSet;

use crate::catalog::{Kind, Layer, Scope, Stack, read_bundled, read_folder};
use crate::diagnostic::Diagnostic;
use crate::output::Output;
use crate::paths::Places;
use crate::plugins::layer::PluginLayer;
use crate::plugins::status::Grounds;
use crate::plugins::store::Store;
use crate::project;

/// What one command works with.
#[derive(Debug)]
pub struct App {
    /// Where files are.
    pub places: Places,
    /// Where words go.
    pub output: Output,
    plugins_off: bool,
    /// In their order; a large file may give very many.
    warnings: RefCell<IndexSet<Diagnostic>>,
    plugin_layer: RefCell<Option<Arc<PluginLayer>>>,
    stacks: [OnceCell<Stack>; 3],
}

impl App {
    /// Nothing is read yet. With `plugins_off`, no plugin adds anything.
    pub fn new(places: Places, output: Output, plugins_off: bool) -> Self {
        Self {
            places,
            output,
            plugins_off,
            warnings: RefCell::default(),
            plugin_layer: RefCell::default(),
            stacks: Default::default(),
        }
    }

    /// Uses a plugin layer that was built before and is still right.
    #[must_use]
    pub fn with_plugin_layer(self, layer: Arc<PluginLayer>) -> Self {
        self.plugin_layer.replace(Some(layer));
        self
    }

    /// Whether plugins are left out of this run.
    pub fn plugins_off(&self) -> bool {
        self.plugins_off
    }

    /// The plugin stores there are, the global one first.
    pub fn stores(&self) -> Vec<Store> {
        Store::all(&self.places)
    }

    /// What plugins are judged by.
    pub fn grounds(&self) -> Grounds {
        Grounds::read(self.places.global())
    }

    /// The plugin layer. Built, which runs the plugins, at the first call.
    pub fn plugin_layer(&self) -> Arc<PluginLayer> {
        if self.plugin_layer.borrow().is_none() {
            self.build_plugin_layer();
            for plugin in self.built_plugin_layer().iter().flat_map(|layer| &layer.plugins) {
                plugin.tell(self.output);
            }
        }
        self.built_plugin_layer().unwrap_or_default()
    }

    /// The plugin layer, where a command has built it.
    pub fn built_plugin_layer(&self) -> Option<Arc<PluginLayer>> {
        self.plugin_layer.borrow().clone()
    }

    /// Builds the plugin layer anew, after a change of what is installed, and
    /// notes what is wrong with it. What the plugins say while they run was
    /// passed on when they were tried out.
    pub fn rebuild_plugin_layer(&self) {
        self.build_plugin_layer();
        self.warn(self.plugin_layer().warnings.iter().cloned());
    }

    fn build_plugin_layer(&self) {
        let layer = if self.plugins_off {
            PluginLayer::default()
        } else {
            PluginLayer::rebuild(&self.stores(), &mut self.grounds())
        };
        self.plugin_layer.replace(Some(Arc::new(layer)));
    }

    /// All layers of one kind. Read at the first call.
    pub fn stack(&self, kind: Kind) -> &Stack {
        self.stacks[kind as usize].get_or_init(|| {
            let plugin_layer = self.plugin_layer();
            self.warn(plugin_layer.warnings.iter().cloned());
            let mut layers = vec![read_bundled(kind)];
            layers.extend(plugin_layer.layers(kind).cloned());
            for scope in [Scope::Global, Scope::Local] {
                let Some(folder) = self.places.folder(scope) else { continue };
                let (layer, diagnostics) = read_folder(&folder, kind, scope);
                self.warn(diagnostics);
                if scope == Scope::Local {
                    self.warn(project::untrusted_permissions(&layer, &layers, self.places.global()));
                }
                layers.push(layer);
            }
            let stack = Stack::new(kind, layers);
            self.warn(stack.collisions());
            stack
        })
    }

    /// Warns of what the project's types make less strict, where their layer is
    /// this one now.
    pub fn warn_of_untrusted_permissions(&self, local: &Layer) {
        let below = self.stack(local.kind).layers().iter().filter(|layer| layer.origin < local.origin);
        self.warn(project::untrusted_permissions(local, below, self.places.global()));
    }

    /// Notes warnings for the end of the command; the same one only once.
    pub fn warn(&self, warnings: impl IntoIterator<Item = Diagnostic>) {
        self.warnings.borrow_mut().extend(warnings);
    }

    /// The warnings so far, which are then forgotten.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take().into_iter().collect()
    }
}
