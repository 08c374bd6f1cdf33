/** The part of JSON Schema that Corral's document uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The document's routes as TypeScript, not yet formatted. A word of JSON Schema that is not known here throws: types that
 * leave out half of what it means would be worse than none.
 */
export function typesOf(document: OpenApiDocument, heading: string): string {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  const needed = routes.map(({ name, operation }) => `${quoted(name)}: ${neededIn(operation, name)},`);
  return `${heading}
/** Every route, by its method and path: what is put into it and what it answers. */
export interface Api {
  ${routes.map(({ name, operation }) => routeType(name, operation)).join("\n")}
}

${Object.entries(document.components.schemas)
  .map(([name, schema]) => `export interface ${name} ${typeOf(schema, name)}\n`)
  .join("\n")}
/** The fields that every answer of a route has; none where it may be something else than an object. */
export const fieldsOfAnswers: { readonly [R in keyof Api]: readonly string[] } = {
  ${needed.join("\n")}
};
`;
}

function routeType(name: string, operation: Operation): string {
  const body = jsonOf(operation.requestBody);
  const summary = operation.summary === undefined ? "" : `/** ${operation.summary} */\n`;
  return `${summary}${quoted(name)}: {
    path: ${parametersType(operation, "path", name)};
    query: ${parametersType(operation, "query", name)};
    body: ${body === undefined ? "undefined" : typeOf(body, `${name} body`)};
    answer: ${union(answersOf(operation).map((schema) => typeOf(schema, `${name} answer`)))};
  };`;
}

function parametersType({ parameters = [] }: Operation, place: string, where: string): string {
  const wanted = parameters.filter((each) => each.in === place);
  return typeOf(
    {
      type: "object",
      properties: Object.fromEntries(wanted.map(({ name, schema }) => [name, schema])),
      required: wanted.filter(({ required }) => required === true).map(({ name }) => name),
    },
    `${where} ${place}`,
  );
}

/** What it answers when it does not refuse; a WebSocket's messages count as its answer. */
function answersOf({ responses }: Operation): readonly Schema[] {
  return Object.entries(responses).flatMap(([status, response]) =>
    /^(2|101)/.test(status) ? (jsonOf(response) ?? []) : [],
  );
}

function neededIn(operation: Operation, where: string): string {
  const all = answersOf(operation).map((schema) => (isObject(schema) ? (schema.required ?? []) : []));
  const [first = [], ...others] = all;
  if (all.length === 0) throw new Error(`${where} has no answer`);
  return JSON.stringify(first.filter((field) => others.every((each) => each.includes(field))));
}

function isObject(schema: Schema): boolean {
  return schema.type === "object";
}

/** JSON where there is a choice. */
function jsonOf(of: Content | undefined): Schema | undefined {
  const content = of?.content ?? {};
  return (content["application/json"] ?? Object.values(content)[0])?.schema;
}

/** Words that narrow a type further than TypeScript can tell. */
const untold = new Set(
  "$schema title description default examples format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems propertyNames id".split(
    " ",
  ),
);
const told = new Set(
  "type enum const pattern properties required additionalProperties items oneOf anyOf $ref".split(" "),
);

function typeOf(schema: Schema, where: string): string {
  const odd = Object.keys(schema).find((word) => !told.has(word) && !untold.has(word));
  if (odd !== undefined) throw new Error(`${where}: scripts/openapi-types.ts does not know what ${odd} means`);
  const { $ref, oneOf, anyOf, type } = schema;
  if ($ref !== undefined) return referred($ref, where);
  if (oneOf !== undefined || anyOf !== undefined) {
    return union([...(oneOf ?? []), ...(anyOf ?? [])].map((each, index) => typeOf(each, `${where} ${index + 1}`)));
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (type === undefined) return "unknown";
  return union([type].flat().map((each) => namedType(each, schema, where)));
}

function namedType(type: string, schema: Schema, where: string): string {
  switch (type) {
    case "string":
      return stringType(schema.pattern);
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "null":
      return type;
    case "array":
      return `(${schema.items === undefined ? "unknown" : typeOf(schema.items, `${where}[]`)})[]`;
    case "object":
      return objectType(schema, where);
    default:
      throw new Error(`${where}: scripts/openapi-types.ts knows no type ${type}`);
  }
}

/** An id keeps its beginning, so that no id is taken for another. */
function stringType(pattern = ""): string {
  const [, prefix] = /^\^([a-z]+_)\[/.exec(pattern) ?? [];
  return prefix === undefined ? "string" : `\`${prefix}\${string}\``;
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, where: string): string {
  const known = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, `${where}.${name}`);
    return required.includes(name) ? `${quoted(name)}: ${type};` : `${quoted(name)}?: ${type} | undefined;`;
  });
  if (typeof additionalProperties === "object") {
    if (known.length > 0) throw new Error(`${where}: fields besides the named ones cannot be told in a type`);
    return `{ [key: string]: ${typeOf(additionalProperties, `${where}.*`)} }`;
  }
  return known.length === 0 ? "Record<string, never>" : `{ ${known.join(" ")} }`;
}

function referred(reference: string, where: string): string {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(reference) ?? [];
  if (name === undefined) throw new Error(`${where}: ${reference} is not in the document`);
  return name;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
