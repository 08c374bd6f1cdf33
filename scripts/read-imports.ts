/** One import, export … from, import() or require() of a source, types included. */
export interface Import {
  /** Undefined where the module is computed when the program runs. */
  readonly specifier: string | undefined;
  readonly line: number;
}

/** Every module a TypeScript source names. Reads tokens, so comments, strings, templates and regexes do not deceive it. */
export function readImports(source: string): readonly Import[] {
  const tokens = tokenize(source);
  return tokens.flatMap((token, at) => {
    if (token.kind !== "word" || isProperty(tokens, at)) return [];
    const specifier = specifierAt(tokens, at);
    return specifier === "none" ? [] : [{ specifier: specifier.text, line: token.line }];
  });
}

interface Token {
  readonly kind: "word" | "text" | "template" | "mark";
  readonly text: string;
  readonly line: number;
}

function specifierAt(tokens: readonly Token[], at: number): { text: string | undefined } | "none" {
  const word = tokens[at]?.text;
  const next = tokens[at + 1];
  if (word === "import" && next?.kind === "text") return { text: next.text };
  if ((word === "import" || word === "require") && next?.text === "(" && next.kind === "mark") {
    return called(tokens, at + 2);
  }
  if (word === "import" || word === "export") return afterFrom(tokens, at + 1);
  return "none";
}

/** `import("./x.ts")`; an argument that is not plain text is computed. A call without any is a method of that name. */
function called(tokens: readonly Token[], at: number): { text: string | undefined } | "none" {
  const argument = tokens[at];
  if (argument === undefined || argument.text === ")") return "none";
  const end = tokens[at + 1]?.text;
  const plain = argument.kind === "text" && (end === ")" || end === ",");
  return { text: plain ? argument.text : undefined };
}

/** The text after `from`, if what stands before it can only be the clause of an import or export. */
function afterFrom(tokens: readonly Token[], start: number): { text: string } | "none" {
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at];
    const next = tokens[at + 1];
    if (token === undefined) break;
    if (token.kind === "word" && token.text === "from" && next?.kind === "text") return { text: next.text };
    const inClause = token.kind === "mark" ? "{},*".includes(token.text) : token.kind === "word" || isAlias(tokens, at);
    if (!inClause || (token.kind === "word" && declares.has(token.text) && !isAlias(tokens, at))) break;
  }
  return "none";
}

/** `{ "a name" as x }` and `{ x as default }`. */
function isAlias(tokens: readonly Token[], at: number): boolean {
  return tokens[at + 1]?.text === "as" || tokens[at - 1]?.text === "as";
}

/** `x.import(…)` and `{ import: … }` are names, not imports. */
function isProperty(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const isMember = before?.kind === "mark" && (before.text === "." || before.text === "?.");
  return isMember || (tokens[at + 1]?.kind === "mark" && tokens[at + 1]?.text === ":");
}

const declares = new Set([
  "const",
  "let",
  "var",
  "function",
  "class",
  "interface",
  "enum",
  "async",
  "abstract",
  "declare",
]);

/** In order: comment, text, template, regex or division, word or number, any other mark. */
const pattern =
  /\/\/.*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|`|\/|[\p{ID_Start}$_#\d][\p{ID_Continue}$]*|\?\.|\S/uy;
const space = /\s*/y;
const template = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const braces: ("{" | "${")[] = [];
  let at = 0;
  let line = 1;

  const take = (expression: RegExp): string => {
    expression.lastIndex = at;
    const text = expression.exec(source)?.[0] ?? "";
    at += text.length;
    for (const character of text) if (character === "\n") line++;
    return text;
  };
  const push = (kind: Token["kind"], text: string): void => {
    tokens.push({ kind, text, line });
  };
  /** From behind "`" or the "}" of a hole to the end, or into the next hole. */
  const takeTemplate = (whole: boolean): void => {
    const text = take(template);
    if (source[at] === "`") {
      at += 1;
      push(whole ? "text" : "template", text);
    } else if (source[at] === "$") {
      at += 2;
      braces.push("${");
      push("template", text);
    }
  };

  for (take(space); at < source.length; take(space)) {
    const start = at;
    const text = take(pattern);
    if (text === "") throw new Error(`no token at line ${line}`);
    if (text === "/" && startsRegex(tokens.at(-1))) {
      at = start;
      push("template", take(regex) || take(/\//y));
    } else if (text.startsWith("//") || text.startsWith("/*")) continue;
    else if (text === "`") takeTemplate(true);
    else if (text === "}" && braces.pop() === "${") takeTemplate(false);
    else if (text.startsWith('"') || text.startsWith("'")) push("text", text.slice(1, -1));
    else {
      if (text === "{") braces.push("{");
      push(/^[\p{ID_Start}$_#\d]/u.test(text) ? "word" : "mark", text);
    }
  }
  return tokens;
}

const beforeRegex = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "do",
  "else",
  "await",
  "yield",
  "throw",
  "new",
  "void",
]);

/** After a value a slash divides, anywhere else it opens a regex. */
function startsRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "word") return beforeRegex.has(before.text);
  return before.kind === "mark" && ![")", "]", "}"].includes(before.text);
}
