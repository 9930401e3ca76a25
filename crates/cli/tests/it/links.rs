//! Every link of the README, the guide and the documents beside them leads to an existing file and heading,
//! and SUMMARY.md lists every chapter.

use std::{collections::BTreeSet, path::Path};

use crate::common::pages::Page;

/// The mistake in a link of this page. Addresses are not looked up, so that the tests need no network.
fn mistake(page: &Page, link: &str) -> Option<String> {
    if ["https://", "http://"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        page.clone()
    } else {
        let folder = Path::new(&page.name).parent().expect("a file lies in a folder");
        let name = crate::common::pages::normal(&folder.join(file));
        if !crate::common::pages::root().join(&name).exists() {
            return Some(format!("{}: {link} leads to {}, which is not there", page.name, name.display()));
        }
        if anchor.is_empty() {
            return None;
        }
        Page::read(name.to_str().expect("a plain name").to_owned()).with_included()
    };
    let anchors = target.anchors();
    (!anchors.iter().any(|one| one == anchor))
        .then(|| format!("{}: {link} names no heading; there are {anchors:?}", page.name))
}

/// mdBook leaves the links of an included file unchanged, so that they must work from the page that includes
/// it.
#[test]
fn every_link_leads_somewhere() {
    let (mut links, mut mistakes) = (0, Vec::new());
    for page in crate::common::pages::all().into_iter().flat_map(|page| [page.clone(), page.with_included()])
    {
        links += page.links().len();
        mistakes.extend(page.links().iter().filter_map(|link| mistake(&page, link)));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    assert!(links > 50, "links are not found");
}

#[test]
fn a_link_to_nowhere_is_found() {
    let page = Page { name: "guide/src/page.md".to_owned(), text: "# Here".to_owned() };
    for link in ["../../README.md", "../../README.md#status", "#here", "https://example.org/nowhere"] {
        assert_eq!(mistake(&page, link), None);
    }
    for link in ["../README.md", "../../README.md#nothing", "#there"] {
        assert!(mistake(&page, link).is_some(), "{link}");
    }
}

/// mdBook leaves out a file that the summary does not list, and creates an empty file for a missing one that
/// the summary lists.
#[test]
fn the_summary_lists_every_chapter_once() {
    let summary = Page::read("guide/src/SUMMARY.md".to_owned());
    let listed: Vec<String> = summary.links().into_iter().map(|link| format!("guide/src/{link}")).collect();
    let once: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(once.len(), listed.len(), "a chapter is listed twice: {listed:?}");
    let names = crate::common::pages::for_users().into_iter().map(|page| page.name);
    let chapters: BTreeSet<String> =
        names.filter(|name| name.starts_with("guide/") && *name != summary.name).collect();
    assert_eq!(chapters, once);
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# On a GPU, and on none\n\n## `hello`\n\n# What's *new*?\n\n## `hello`\n".to_owned();
    let page = Page { name: String::new(), text };
    assert_eq!(page.anchors(), ["on-a-gpu-and-on-none", "hello", "whats-new", "hello-1"]);
}

#[test]
fn links_in_code_are_no_links() {
    let text = "[a](b.md#c) `[d](e)` ![f](g.png)\n\n```sh\n[h](i)\n```\n\n[j]\n\n[j]: k\n".to_owned();
    let page = Page { name: String::new(), text };
    assert_eq!(page.links(), ["b.md#c", "g.png", "k"]);
}
