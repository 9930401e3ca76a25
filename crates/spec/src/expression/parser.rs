//! Parses an expression by precedence climbing. The height of trees is bounded, so that neither the parser
//! nor later walks of the tree overflow the stack.

use dmlcts_model::closest;

use super::{
    Binary, Comparison, Expression, Form, Function, Logic, Mistake, Quantifier, Span,
    ast::MAXIMUM_HEIGHT,
    lexer::{GREATEST, Token, tokens, too_large},
};
use crate::names::suggested;

/// Words that cannot be names.
pub(super) const KEYWORDS: [&str; 13] =
    ["and", "or", "not", "mod", "if", "then", "else", "in", "any", "all", "sum", "product", "fill"];

/// The binding strength of operators, from loosest to tightest.
mod binding {
    pub(super) const LOOSEST: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const COMPARE: u8 = 4;
    pub(super) const SUM: u8 = 5;
    pub(super) const PRODUCT: u8 = 6;
    pub(super) const UNARY: u8 = 7;
}

/// Parses a text that is one expression.
pub fn parse(text: &str) -> Result<Expression, Mistake> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expression = parser.expression(binding::LOOSEST)?;
    match parser.peek() {
        (Token::End, _) => Ok(expression),
        (token, span) => {
            let message = format!("expected an operator or the end, found {}", describe(token));
            let mistake = Mistake::new(span, message);
            Err(match token {
                Token::Sign(")") => mistake.help("this parenthesis was never opened"),
                Token::Word("not") => mistake.help("`not` stands before a condition: `not A in [B, C]`"),
                Token::Word("then" | "else") => mistake.help("there is no `if` that this belongs to"),
                _ => mistake,
            })
        }
    }
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Span)>,
    at: usize,
    depth: u16,
}

type Parsed = Result<Expression, Mistake>;

impl<'a> Parser<'a> {
    fn peek(&self) -> (Token<'a>, Span) {
        self.tokens[self.at]
    }

    /// Takes the next token. Stays at [`Token::End`].
    fn next(&mut self) -> (Token<'a>, Span) {
        let token = self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, wanted: Token<'_>) -> bool {
        let found = self.peek().0 == wanted;
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, wanted: Token<'static>, after: &str) -> Result<Span, Mistake> {
        let (token, span) = self.peek();
        if token == wanted {
            self.next();
            return Ok(span);
        }
        Err(Mistake::new(span, format!("expected {} {after}, found {}", describe(wanted), describe(token))))
    }

    fn build(&self, form: Form, start: Span) -> Parsed {
        let (_, last) = self.tokens[self.at.saturating_sub(1)];
        let expression = Expression::new(form, start.to(last));
        if expression.height() > MAXIMUM_HEIGHT { Err(too_deep(expression.span)) } else { Ok(expression) }
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Parsed {
        // Parentheses leave no node in the tree, so its height alone does not bound this recursion.
        if self.depth > MAXIMUM_HEIGHT {
            return Err(too_deep(self.peek().1));
        }
        self.depth += 1;
        let result = self.climb(least);
        self.depth -= 1;
        result
    }

    fn climb(&mut self, least: u8) -> Parsed {
        let start = self.peek().1;
        let mut left = self.operand(least)?;
        loop {
            let (token, span) = self.peek();
            let Some((infix, tightness)) = operator(token) else { return Ok(left) };
            if tightness < least {
                return Ok(left);
            }
            let form = match infix {
                Infix::Compare(_) => self.chain(left)?,
                Infix::In => {
                    self.next();
                    Form::In(Box::new(left), self.set()?)
                }
                Infix::Binary(binary) => {
                    self.next();
                    Form::Binary(binary, Box::new([left, self.expression(tightness + 1)?]))
                }
                Infix::Logic(logic) => {
                    self.next();
                    Form::Logic(logic, Box::new([left, self.expression(tightness + 1)?]))
                }
            };
            left = self.build(form, start)?;
            if tightness == binding::COMPARE
                && let (token, _) = self.peek()
                && operator(token).is_some_and(|(_, tightness)| tightness == binding::COMPARE)
            {
                return Err(Mistake::new(span.to(self.peek().1), "`in` cannot be chained with comparisons")
                    .help("join them with `and`"));
            }
        }
    }

    /// The comparisons that follow `first`.
    fn chain(&mut self, first: Expression) -> Result<Form, Mistake> {
        let mut rest = Vec::new();
        while let Some((Infix::Compare(comparison), _)) = operator(self.peek().0) {
            self.next();
            rest.push((comparison, self.expression(binding::SUM)?));
        }
        Ok(Form::Compare(Box::new(first), rest))
    }

    /// One or more expressions with commas between them.
    fn list(&mut self) -> Result<Vec<Expression>, Mistake> {
        let mut members = vec![self.expression(binding::LOOSEST)?];
        while self.accept(Token::Sign(",")) {
            members.push(self.expression(binding::LOOSEST)?);
        }
        Ok(members)
    }

    fn set(&mut self) -> Result<Vec<Expression>, Mistake> {
        self.expect(Token::Sign("["), "after `in`")?;
        let members = self.list()?;
        self.expect(Token::Sign("]"), "or `,` after a member of the set")?;
        Ok(members)
    }

    /// The operand before the first infix operator.
    fn operand(&mut self, least: u8) -> Parsed {
        let (token, span) = self.next();
        let form = match token {
            Token::Integer(base) => self.power(base, span)?,
            Token::Level(level) => Form::Level(level),
            Token::Sign("-") => Form::Negate(Box::new(self.expression(binding::UNARY)?)),
            Token::Sign("(") => {
                let inner = self.expression(binding::LOOSEST)?;
                self.expect(Token::Sign(")"), "to close the parenthesis").map_err(|mistake| {
                    match self.peek() {
                        (Token::End, _) => {
                            mistake.help("add the `)`, or leave out the `(` that it belongs to")
                        }
                        _ => mistake,
                    }
                })?;
                // The span includes the parentheses, so that carets point at the whole.
                return self.build(inner.form, span);
            }
            Token::Word("not") if least <= binding::NOT => {
                Form::Not(Box::new(self.expression(binding::NOT)?))
            }
            Token::Word("not") => {
                return Err(Mistake::new(span, "`not` binds looser than the operator before it")
                    .help("put the `not` and its condition in parentheses"));
            }
            Token::Word("if") => self.conditional()?,
            Token::Word("fill") => Form::Fill,
            Token::Word("any") => self.over(Quantifier::Any, "axis")?,
            Token::Word("all") => self.over(Quantifier::All, "axes")?,
            Token::Word("sum") => self.over(Quantifier::Sum, "axes")?,
            Token::Word("product") => self.over(Quantifier::Product, "axes")?,
            Token::Word(name) if !KEYWORDS.contains(&name) => {
                if self.accept(Token::Sign("(")) {
                    self.call(name, span)?
                } else {
                    Form::Name(name.to_owned())
                }
            }
            other => {
                let mistake = Mistake::new(span, format!("expected a value, found {}", describe(other)));
                return Err(match other {
                    Token::End => mistake.help("a value is a name, a number or something in parentheses"),
                    _ => mistake,
                });
            }
        };
        self.build(form, span)
    }

    fn power(&mut self, base: i128, span: Span) -> Result<Form, Mistake> {
        if !self.accept(Token::Sign("^")) {
            return Ok(Form::Integer(base));
        }
        let (exponent, at) = self.next();
        let Token::Integer(exponent) = exponent else {
            return Err(Mistake::new(at, format!("expected an exponent, found {}", describe(exponent)))
                .help("a power is of two literals, such as `2^32`"));
        };
        let power = u32::try_from(exponent).ok().and_then(|n| Some((n, base.checked_pow(n)?)));
        match power {
            Some((exponent, value)) if value <= GREATEST => Ok(Form::Power(base, exponent)),
            _ => Err(too_large(span.to(at))),
        }
    }

    fn conditional(&mut self) -> Result<Form, Mistake> {
        let condition = self.expression(binding::LOOSEST)?;
        self.expect(Token::Word("then"), "after the condition of an `if`")?;
        let then = self.expression(binding::LOOSEST)?;
        self.expect(Token::Word("else"), "after the `then` branch of an `if`")?;
        Ok(Form::If(Box::new([condition, then, self.expression(binding::LOOSEST)?])))
    }

    fn over(&mut self, quantifier: Quantifier, word: &'static str) -> Result<Form, Mistake> {
        let (name, _) = quantifier.words().split_once(' ').unwrap_or_default();
        self.expect(Token::Word(word), &format!("after `{name}`"))?;
        let reach = if quantifier.is_condition() { binding::LOOSEST } else { binding::SUM };
        Ok(Form::Over(quantifier, Box::new(self.expression(reach)?)))
    }

    fn call(&mut self, name: &str, span: Span) -> Result<Form, Mistake> {
        let binary = Binary::ALL.into_iter().find(|it| it.is_function() && it.symbol() == name);
        let function = Function::from_name(name);
        let arity = binary.map(|_| 2).or(function.map(Function::arity));
        let arity = arity.ok_or_else(|| unknown_function(name, span))?;
        let is_empty = self.peek().0 == Token::Sign(")");
        let arguments = if is_empty { Vec::new() } else { self.list()? };
        let close = self.expect(Token::Sign(")"), "or `,` after an argument")?;
        if arguments.len() != arity {
            let message = format!("`{name}` takes {}, found {}", count(arity), arguments.len());
            return Err(Mistake::new(span.to(close), message));
        }
        Ok(match (binary, function) {
            (Some(binary), _) => {
                let pair: Result<Box<[Expression; 2]>, _> = arguments.try_into();
                pair.map_or_else(|_| Form::Fill, |pair| Form::Binary(binary, pair))
            }
            (None, Some(function)) => Form::Call(function, arguments),
            (None, None) => Form::Fill,
        })
    }
}

fn unknown_function(name: &str, span: Span) -> Mistake {
    let names: Vec<_> =
        Function::ALL.iter().map(|function| function.name()).chain(["min", "max", "align"]).collect();
    let near = closest(name, names.iter().copied());
    let help = suggested(near, || format!("the functions are {}", names.join(", ")));
    Mistake::new(span, format!("there is no function `{name}`")).help(help)
}

fn count(arity: usize) -> String {
    if arity == 1 { "1 argument".to_owned() } else { format!("{arity} arguments") }
}

fn too_deep(span: Span) -> Mistake {
    Mistake::new(span, "this expression nests too deeply")
        .help(format!("at most {MAXIMUM_HEIGHT} levels; give parts of it a name under `let`"))
}

enum Infix {
    Binary(Binary),
    Compare(Comparison),
    In,
    Logic(Logic),
}

fn operator(token: Token<'_>) -> Option<(Infix, u8)> {
    let (Token::Sign(text) | Token::Word(text)) = token else { return None };
    Some(match text {
        "+" => (Infix::Binary(Binary::Add), binding::SUM),
        "-" => (Infix::Binary(Binary::Subtract), binding::SUM),
        "*" => (Infix::Binary(Binary::Multiply), binding::PRODUCT),
        "/" => (Infix::Binary(Binary::Divide), binding::PRODUCT),
        "mod" => (Infix::Binary(Binary::Modulo), binding::PRODUCT),
        "==" => (Infix::Compare(Comparison::Equal), binding::COMPARE),
        "!=" => (Infix::Compare(Comparison::NotEqual), binding::COMPARE),
        "<" => (Infix::Compare(Comparison::Less), binding::COMPARE),
        "<=" => (Infix::Compare(Comparison::LessOrEqual), binding::COMPARE),
        ">" => (Infix::Compare(Comparison::Greater), binding::COMPARE),
        ">=" => (Infix::Compare(Comparison::GreaterOrEqual), binding::COMPARE),
        "in" => (Infix::In, binding::COMPARE),
        "and" => (Infix::Logic(Logic::And), binding::AND),
        "or" => (Infix::Logic(Logic::Or), binding::OR),
        _ => return None,
    })
}

fn describe(token: Token<'_>) -> String {
    match token {
        Token::Integer(value) => format!("the integer {value}"),
        Token::Level(level) => format!("the feature level {level}"),
        Token::Word(word) => format!("`{word}`"),
        Token::Sign(sign) => format!("`{sign}`"),
        Token::End => "the end".to_owned(),
    }
}
