//! The pages that users read: the README, the chapters of the guide, and the documents beside the README. A
//! new file in `guide/src/` is a page without an entry in any list.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The pages beside the README whose links are checked, too. Their commands are for maintainers.
const DOCUMENTS: [&str; 10] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "crates/backend/PROTOCOL.md",
    "crates/backend/README.md",
    "crates/backend/js/README.md",
    "crates/backend/python/README.md",
    "crates/model/README.md",
    "crates/wgpu/README.md",
];

#[derive(Clone)]
pub(crate) struct Page {
    /// Relative to the repository, with `/` between folders.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A fenced block of code.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) text: String,
}

pub(crate) fn root() -> PathBuf {
    normal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// The path without `.` and `..`, which need not exist.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// The README, and all of the guide: the pages whose commands run.
pub(crate) fn for_users() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned()];
    let mut folders = vec!["guide/src".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("the guide has sources") {
            let entry = entry.expect("a folder lists");
            let name = format!("{folder}/{}", entry.file_name().to_str().expect("a plain name"));
            if entry.path().is_dir() {
                folders.push(name);
            } else if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
                names.push(name);
            }
        }
    }
    names.sort();
    names.into_iter().map(Page::read).collect()
}

/// The pages whose links are checked.
pub(crate) fn all() -> Vec<Page> {
    let mut pages = for_users();
    pages.extend(DOCUMENTS.map(|name| Page::read(name.to_owned())));
    pages
}

impl Page {
    pub(crate) fn read(name: String) -> Self {
        let text = fs::read_to_string(root().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name, text }
    }

    /// The page as in the book, with the files that it includes.
    pub(crate) fn with_included(mut self) -> Self {
        let folder = root().join(&self.name).parent().expect("a file lies in a folder").to_owned();
        while let Some((before, rest)) = self.text.split_once("{{#include ") {
            let (file, after) = rest.split_once("}}").expect("an inclusion ends");
            let included =
                fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            self.text = format!("{before}{included}{after}");
        }
        self
    }

    fn events(&self) -> Parser<'_> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES)
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut inside = false;
        for event in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    inside = true;
                    blocks.push(Block { language: language.to_string(), text: String::new() });
                }
                Event::Text(text) if inside => {
                    blocks.last_mut().expect("a block has begun").text.push_str(&text);
                }
                Event::End(TagEnd::CodeBlock) => inside = false,
                _ => {}
            }
        }
        blocks
    }

    /// The targets of the page's links and images, as the page writes them.
    pub(crate) fn links(&self) -> Vec<String> {
        let target = |event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.to_string())
            }
            _ => None,
        };
        self.events().filter_map(target).collect()
    }

    /// The anchors of the page's headings, by GitHub's rules: lower case, without punctuation, a hyphen for
    /// each space, and a number after a repeated heading.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors = Vec::new();
        let mut seen = BTreeMap::new();
        let mut heading = None;
        for event in self.events() {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
                (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
                (Event::End(TagEnd::Heading(_)), Some(text)) => {
                    let anchor = anchor(text);
                    let before = seen.entry(anchor.clone()).or_insert(0);
                    anchors.push(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
                    *before += 1;
                    heading = None;
                }
                _ => {}
            }
        }
        anchors
    }
}

fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
