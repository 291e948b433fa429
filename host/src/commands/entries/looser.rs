//! Which permissions became looser. Pure: two sets of permissions go in.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::{Action, Category};

/// What a set of permissions says.
pub(super) type Permissions = BTreeMap<Category, Action>;

/// A permission that is looser than it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Looser {
    pub(super) category: Category,
    pub(super) from: Action,
    /// `None` where the type no longer says anything, so that its caller's
    /// action holds.
    pub(super) to: Option<Action>,
}

/// The permissions that are looser afterwards than in the strictest of what
/// was there before.
pub(super) fn looser(before: &[&Permissions], after: &Permissions) -> Vec<Looser> {
    let strictest = |category: Category| before.iter().filter_map(|set| set.get(&category).copied()).max();
    let all = Category::ALL.into_iter().filter_map(|category| {
        let from = strictest(category)?;
        let to = after.get(&category).copied();
        // What a caller may do can be anything, and nothing is looser than `allow`.
        let is_looser = to.map_or(from > Action::Allow, |to| to < from);
        is_looser.then_some(Looser { category, from, to })
    });
    all.collect()
}

impl Looser {
    pub(super) fn text(self) -> String {
        let to = self.to.map_or("whatever its caller may do", Action::word);
        format!("{} is looser now: {} before, {to} from now on", self.category, self.from)
    }

    pub(super) fn json(self) -> Value {
        json!({ "category": self.category, "from": self.from, "to": self.to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_less_strict_than_before_is_looser() {
        use Action::{Allow, Ask, Deny};
        let set = |pairs: &[(Category, Action)]| pairs.iter().copied().collect::<Permissions>();
        let below = set(&[(Category::Bash, Deny), (Category::Web, Allow), (Category::Edit, Ask)]);
        let own = set(&[(Category::Edit, Deny)]);
        let after = set(&[(Category::Bash, Ask), (Category::Edit, Ask), (Category::Mcp, Allow)]);
        let expected = [
            Looser { category: Category::Edit, from: Deny, to: Some(Ask) },
            Looser { category: Category::Bash, from: Deny, to: Some(Ask) },
        ];
        assert_eq!(looser(&[&below, &own], &after), expected);
        assert_eq!(looser(&[&below], &below), []);
        let reset = looser(&[&below], &set(&[]));
        assert_eq!(
            reset.iter().map(|one| one.category).collect::<Vec<_>>(),
            [Category::Edit, Category::Bash]
        );
    }
}
