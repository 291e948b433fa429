//! What lives on between the lines of a session: the plugin layer, as long as
//! what is installed stays the same. All files are read afresh by each line.

use std::sync::{Arc, Mutex, PoisonError};

use crate::app::App;
use crate::commands::GlobalOptions;
use crate::diagnostic::Diagnostic;
use crate::output::Output;
use crate::paths::{Places, Surroundings};
use crate::plugins::layer::PluginLayer;

/// The plugin layer of the last line. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Option<Arc<PluginLayer>>>>);

impl Kept {
    /// What a line with these options works with.
    ///
    /// # Errors
    /// The folders can't be found.
    pub(super) fn app(&self, options: &GlobalOptions, output: Output) -> Result<App, Diagnostic> {
        let places = Places::find(&Surroundings::of_this_process(options.path.clone())?)?;
        let app = App::new(places, output, options.plugins_off());
        if app.plugins_off() {
            return Ok(app);
        }
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match kept.filter(|layer| layer.is_current(&app.stores(), &mut app.grounds())) {
            Some(layer) => Ok(app.with_plugin_layer(layer)),
            None => Ok(app),
        }
    }

    /// Keeps the layer that the app has built.
    pub(super) fn keep(&self, app: &App) {
        if let Some(layer) = app.built_plugin_layer().filter(|_| !app.plugins_off()) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(layer);
        }
    }
}
