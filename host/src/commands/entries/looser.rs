//! Which permissions became looser, in words and in JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::{Action, Category, Loosened, loosened};

/// What a set of permissions says.
pub(super) type Permissions = BTreeMap<Category, Action>;

/// The permissions that are looser afterwards than in any of the sets from
/// before, each once, with the strictest that it was.
pub(super) fn looser(before: &[&Permissions], after: &Permissions) -> Vec<Loosened> {
    let mut looser: Vec<Loosened> = before.iter().flat_map(|before| loosened(before, after)).collect();
    looser.sort_by(|left, right| (left.category, right.before).cmp(&(right.category, left.before)));
    looser.dedup_by_key(|looser| looser.category);
    looser
}

pub(super) fn in_words(looser: Loosened) -> String {
    let Loosened { category, before, after } = looser;
    format!("{category} is looser now: {before} before, {after} from now on")
}

pub(super) fn json_of(looser: &[Loosened]) -> Value {
    let one = |looser: &Loosened| json!({ "category": looser.category, "before": looser.before, "after": looser.after });
    looser.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_named_once_with_the_strictest_that_it_was() {
        use Action::{Allow, Ask, Deny};
        let set = |pairs: &[(Category, Action)]| pairs.iter().copied().collect::<Permissions>();
        let below = set(&[(Category::Edit, Ask), (Category::Bash, Deny)]);
        let own = set(&[(Category::Edit, Deny), (Category::Bash, Deny)]);
        let after = set(&[(Category::Edit, Allow), (Category::Bash, Deny)]);
        let expected = [Loosened { category: Category::Edit, before: Deny, after: Allow }];
        assert_eq!(looser(&[&below, &own], &after), expected);
        assert_eq!(looser(&[&own, &below], &after), expected);
        assert_eq!(looser(&[&own], &own), []);
    }
}
