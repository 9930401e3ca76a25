//! Test vectors: cases with explicit values from the tests of other projects. Loading compares every vector
//! with the oracle. They must agree, and a disagreement names both, so that neither is taken for right.

mod claim;
mod form;

use dmlcts_case_files::VECTORS;
use dmlcts_model::{Case, Fill, Tensor, line};
use dmlcts_spec::{
    Diagnostic, Library, LoadError, Source, tensor_bytes,
    yaml::{self, Document, Place},
};

use claim::Claim;
pub use form::{SeenForm, SourceForm, VectorForm, VectorsForm};

/// A file of vectors that the spec agrees with.
#[derive(Debug, Clone)]
pub struct Vectors {
    form: VectorsForm,
    cases: Vec<Case>,
}

impl Vectors {
    /// The embedded files, in order.
    pub fn embedded(library: &Library) -> Result<Vec<Self>, LoadError> {
        let file = |name: &str, text: &str| {
            Self::parse(&Source::new(format!("cases/vectors/{name}.yaml"), text), library)
        };
        VECTORS.iter().map(|(name, text)| file(name, text)).collect()
    }

    /// The vectors of a text. Those of operators that the library does not have are left out.
    pub fn parse(source: &Source, library: &Library) -> Result<Self, LoadError> {
        let document: Document<VectorsForm> = yaml::read(source)?;
        let form = document.value.clone();
        let root = document.root().key("cases");
        let (mut cases, mut wrong) = (Vec::new(), Vec::new());
        for (index, vector) in form.cases.iter().enumerate() {
            let place = root.index(index);
            let is_word = |word: &str| {
                !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            };
            let is_taken = form.cases[..index].iter().any(|other| other.id == vector.id);
            if is_taken || !vector.id.split('-').all(is_word) {
                let message = format!("`{}` is not an id, or is used twice", vector.id);
                let label = "ids are lower case words joined by hyphens, each used once";
                wrong.push(place.key("id").mistake(message, label));
            }
            if vector.descs.is_empty() {
                wrong.push(place.key("descs").mistake("a vector has a desc", "expected one at least"));
            }
            for (index, desc) in vector.descs.iter().enumerate() {
                let is_known = library
                    .operators()
                    .iter()
                    .any(|operator| desc.split_whitespace().next() == Some(operator.name()));
                if is_known {
                    let at = place.key("descs").index(index);
                    let project = &form.source.name;
                    cases.extend(case(library, (vector, project), desc, [place, at], &mut wrong));
                }
            }
        }
        LoadError::check(wrong)?;
        Ok(Self { form, cases })
    }

    /// The YAML form of the file.
    pub fn form(&self) -> &VectorsForm {
        &self.form
    }

    /// One case for each desc, in order.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }
}

/// The case of one desc, if its vector has no mistake and the spec agrees with it. `places` are those of the
/// vector and of the desc.
fn case(
    library: &Library,
    (vector, project): (&VectorForm, &str),
    desc: &str,
    [place, at]: [Place<'_>; 2],
    wrong: &mut Vec<Diagnostic>,
) -> Option<Case> {
    let mut case = match line::parse(desc, library.signatures()) {
        Ok(case) => case,
        Err(error) => {
            wrong.push(at.misread(error));
            return None;
        }
    };
    if let Some(start) = desc.find("fill=") {
        let message = "the fill of a vector is its `input`";
        wrong.push(at.mistake_within(start..start + 5, message, "leave it out"));
        return None;
    }
    if let Some(rule) = library.broken_bindings(&case).into_iter().next() {
        let message = format!("no outcome is defined, since it breaks `{}`", rule.text);
        wrong.push(at.mistake(message, "choose another offset"));
        return None;
    }
    let (Some(input), Some(output)) = (&case.desc.input, &case.desc.output) else {
        wrong.push(at.mistake("a vector has both tensors", "one of them is null"));
        return None;
    };
    let bytes = tensor_bytes(&vector.input, input, place.key("input"), wrong)?;
    let claims = claims(vector, project, output, place, wrong)?;
    case.fill = Fill::Explicit(bytes.into());
    let before = wrong.len();
    claim::compare(library, &case, &claims, wrong);
    (wrong.len() == before).then_some(case)
}

/// What the source says of a vector's outcome.
fn claims<'a>(
    vector: &'a VectorForm,
    project: &'a str,
    output: &Tensor,
    place: Place<'a>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Vec<Claim<'a>>> {
    let before = wrong.len();
    let mut claims = Vec::new();
    let mut add = |by, form: &Option<_>, rejected: bool, place: Place<'a>| match (form, rejected) {
        (Some(form), false) => {
            let place = place.key("output");
            let output = tensor_bytes(form, output, place, wrong);
            claims.extend(output.map(|output| Claim { by, output: Some(output), place }));
        }
        (None, true) => claims.push(Claim { by, output: None, place: place.key("rejected") }),
        _ => wrong.push(place.mistake("expected `output` or `rejected: true`", "exactly one of them")),
    };
    if vector.seen.is_empty() || vector.output.is_some() || vector.rejected {
        add(project, &vector.output, vector.rejected, place);
    }
    for (index, seen) in vector.seen.iter().enumerate() {
        add(&seen.by, &seen.output, seen.rejected, place.key("seen").index(index));
    }
    (wrong.len() == before).then_some(claims)
}
