//! What lives on between the lines of a session: the plugin layer, as long as
//! what is installed stays the same. All files are read afresh by each line.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::app::App;
use crate::catalog::read_text;
use crate::commands::GlobalOptions;
use crate::diagnostic::Diagnostic;
use crate::output::Output;
use crate::paths::{Places, Surroundings};
use crate::plugins::layer::PluginLayer;

/// The plugin layer of the last line. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Option<LastLine>>>);

/// The layer that a line built, and what was installed then.
type LastLine = (Installed, Arc<PluginLayer>);

/// All that a plugin layer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Installed {
    plugins_off: bool,
    /// Each store's list of what is installed, and its text.
    lists: Vec<(PathBuf, Option<String>)>,
}

impl Installed {
    fn now(app: &App) -> Self {
        let lists = app.stores().into_iter().map(|store| {
            let path = store.lockfile_path();
            let text = read_text(&path).ok().flatten();
            (path, text)
        });
        Self { plugins_off: app.plugins_off(), lists: lists.collect() }
    }
}

impl Kept {
    /// What a line with these options works with. The second value is for
    /// [`keep`](Self::keep), when the line is done.
    ///
    /// # Errors
    /// The folders can't be found.
    pub(super) fn app(
        &self,
        options: &GlobalOptions,
        output: Output,
    ) -> Result<(App, Installed), Diagnostic> {
        let places = Places::find(&Surroundings::of_this_process(options.path.clone())?)?;
        let app = App::new(places, output, options.plugins_off());
        let installed = Installed::now(&app);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let app = match &*kept {
            Some((then, layer)) if *then == installed => app.with_plugin_layer(Arc::clone(layer)),
            _ => app,
        };
        Ok((app, installed))
    }

    /// Keeps the layer that the app has built, with what was installed when it
    /// was made: had the line changed that, the next one builds its own.
    pub(super) fn keep(&self, app: &App, installed: Installed) {
        if let Some(layer) = app.built_plugin_layer() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((installed, layer));
        }
    }
}
