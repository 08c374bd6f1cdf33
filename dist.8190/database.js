import { createRequire as corralCreateRequire } from "node:module";
const require = corralCreateRequire(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;
var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: !0 });
};

// packages/daemon/src/database-main.ts
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";

// node_modules/zod/v4/core/util.js
var util_exports = {};
__export(util_exports, {
  BIGINT_FORMAT_RANGES: () => BIGINT_FORMAT_RANGES,
  CONSTANT_CATCH: () => CONSTANT_CATCH,
  Class: () => Class,
  NUMBER_FORMAT_RANGES: () => NUMBER_FORMAT_RANGES,
  aborted: () => aborted,
  allowsEval: () => allowsEval,
  assert: () => assert,
  assertEqual: () => assertEqual,
  assertIs: () => assertIs,
  assertNever: () => assertNever,
  assertNotEqual: () => assertNotEqual,
  assignProp: () => assignProp,
  attachSchema: () => attachSchema,
  base64ToUint8Array: () => base64ToUint8Array,
  base64urlToUint8Array: () => base64urlToUint8Array,
  cached: () => cached,
  captureStackTrace: () => captureStackTrace,
  cleanEnum: () => cleanEnum,
  cleanRegex: () => cleanRegex,
  clone: () => clone,
  cloneDef: () => cloneDef,
  codePointLength: () => codePointLength,
  constantCatch: () => constantCatch,
  createTransparentProxy: () => createTransparentProxy,
  defineLazy: () => defineLazy,
  defineLazyInternal: () => defineLazyInternal,
  derived: () => derived,
  esc: () => esc,
  escapeRegex: () => escapeRegex,
  explicitlyAborted: () => explicitlyAborted,
  extend: () => extend,
  finalizeIssue: () => finalizeIssue,
  floatSafeRemainder: () => floatSafeRemainder,
  getElementAtPath: () => getElementAtPath,
  getEnumValues: () => getEnumValues,
  getLengthableOrigin: () => getLengthableOrigin,
  getParsedType: () => getParsedType,
  getSizableOrigin: () => getSizableOrigin,
  hexToUint8Array: () => hexToUint8Array,
  hide: () => hide,
  installLazyProp: () => installLazyProp,
  isObject: () => isObject,
  isPlainObject: () => isPlainObject,
  issue: () => issue,
  joinValues: () => joinValues,
  jsonStringifyReplacer: () => jsonStringifyReplacer,
  members: () => members,
  merge: () => merge,
  mergeDefs: () => mergeDefs,
  normalizeParams: () => normalizeParams,
  nullish: () => nullish,
  numKeys: () => numKeys,
  objectClone: () => objectClone,
  omit: () => omit,
  optionalKeys: () => optionalKeys,
  own: () => own,
  parsedType: () => parsedType,
  partial: () => partial,
  pick: () => pick,
  prefixIssues: () => prefixIssues,
  primitiveTypes: () => primitiveTypes,
  promiseAllObject: () => promiseAllObject,
  propertyKeyTypes: () => propertyKeyTypes,
  randomString: () => randomString,
  rawShape: () => rawShape,
  required: () => required,
  safeExtend: () => safeExtend,
  shallowClone: () => shallowClone,
  sizeCaps: () => sizeCaps,
  slugify: () => slugify,
  stringifyPrimitive: () => stringifyPrimitive,
  toZod: () => toZod,
  uint8ArrayToBase64: () => uint8ArrayToBase64,
  uint8ArrayToBase64url: () => uint8ArrayToBase64url,
  uint8ArrayToHex: () => uint8ArrayToHex,
  unwrapMessage: () => unwrapMessage
});
function assertEqual(val) {
  return val;
}
function assertNotEqual(val) {
  return val;
}
function toZod() {
  return (schema) => schema;
}
function assertIs(_arg) {
}
function assertNever(_x) {
  throw new Error("Unexpected value in exhaustive check");
}
function assert(_) {
}
function getEnumValues(entries) {
  let numericValues = Object.values(entries).filter((v) => typeof v == "number");
  return Object.entries(entries).filter(([k, _]) => numericValues.indexOf(+k) === -1).map(([_, v]) => v);
}
function joinValues(array2, separator = "|") {
  return array2.map((val) => stringifyPrimitive(val)).join(separator);
}
function jsonStringifyReplacer(_, value) {
  return typeof value == "bigint" ? value.toString() : value;
}
var Cached = class {
  constructor(getter) {
    this._getter = getter, this._value = void 0;
  }
  get value() {
    let getter = this._getter;
    return getter !== void 0 && (this._value = getter(), this._getter = void 0), this._value;
  }
};
function cached(getter) {
  return new Cached(getter);
}
function nullish(input) {
  return input == null;
}
function cleanRegex(source) {
  let start = source.startsWith("^") ? 1 : 0, end = source.endsWith("$") ? source.length - 1 : source.length;
  return source.slice(start, end);
}
function floatSafeRemainder(val, step) {
  let ratio = val / step, roundedRatio = Math.round(ratio), tolerance = 4 * Number.EPSILON * Math.max(Math.abs(ratio), 1);
  return Math.abs(ratio - roundedRatio) < tolerance ? 0 : ratio - roundedRatio;
}
var EVALUATING = /* @__PURE__ */ Symbol("evaluating");
function defineLazy(object2, key, getter) {
  let value;
  Object.defineProperty(object2, key, {
    get() {
      if (value !== EVALUATING)
        return value === void 0 && (value = EVALUATING, value = getter()), value;
    },
    set(v) {
      Object.defineProperty(object2, key, {
        value: v
        // configurable: true,
      });
    },
    configurable: !0
  });
}
function objectClone(obj) {
  return Object.create(Object.getPrototypeOf(obj), Object.getOwnPropertyDescriptors(obj));
}
function assignProp(target, prop, value) {
  Object.defineProperty(target, prop, {
    value,
    writable: !0,
    enumerable: !0,
    configurable: !0
  });
}
function rawShape(def) {
  let desc = Object.getOwnPropertyDescriptor(def, "shape");
  return desc?.get ? desc.get.raw : desc?.value;
}
function sourceShape(schema) {
  return rawShape(schema._zod.def) ?? schema._zod.def.shape;
}
function deferProp(target, key, getter) {
  Object.defineProperty(target, key, {
    get() {
      let value = getter();
      return assignProp(this, key, value), value;
    },
    enumerable: !0,
    configurable: !0
  });
}
function putProp(target, key, value) {
  key in target ? assignProp(target, key, value) : target[key] = value;
}
function mirrorShape(target, source, keys, wrap) {
  let raw = sourceShape(source);
  for (let key of keys) {
    let desc = Object.getOwnPropertyDescriptor(raw, key);
    desc.enumerable && (desc.get ? deferProp(target, key, () => {
      let value = source._zod.def.shape[key];
      return wrap ? wrap(value, key) : value;
    }) : putProp(target, key, wrap ? wrap(desc.value, key) : desc.value));
  }
}
function mirrorProps(target, source) {
  for (let key of Reflect.ownKeys(source)) {
    let desc = Object.getOwnPropertyDescriptor(source, key);
    desc.enumerable && (desc.get ? deferProp(target, key, () => source[key]) : putProp(target, key, desc.value));
  }
}
function mergeDefs(...defs) {
  let mergedDescriptors = {};
  for (let def of defs) {
    let descriptors = Object.getOwnPropertyDescriptors(def);
    Object.assign(mergedDescriptors, descriptors);
  }
  return Object.defineProperties({}, mergedDescriptors);
}
function cloneDef(schema) {
  return mergeDefs(schema._zod.def);
}
function getElementAtPath(obj, path) {
  return path ? path.reduce((acc, key) => acc?.[key], obj) : obj;
}
function promiseAllObject(promisesObj) {
  let keys = Object.keys(promisesObj), promises = keys.map((key) => promisesObj[key]);
  return Promise.all(promises).then((results) => {
    let resolvedObj = {};
    for (let i = 0; i < keys.length; i++)
      resolvedObj[keys[i]] = results[i];
    return resolvedObj;
  });
}
function randomString(length = 10) {
  let chars = "abcdefghijklmnopqrstuvwxyz", str = "";
  for (let i = 0; i < length; i++)
    str += chars[Math.floor(Math.random() * chars.length)];
  return str;
}
function esc(str) {
  return JSON.stringify(str);
}
function slugify(input) {
  return input.toLowerCase().trim().replace(/[^\w\s-]/g, "").replace(/[\s_-]+/g, "-").replace(/^-+|-+$/g, "");
}
var captureStackTrace = "captureStackTrace" in Error ? Error.captureStackTrace : (..._args) => {
};
function isObject(data) {
  return typeof data == "object" && data !== null && !Array.isArray(data);
}
var allowsEval = /* @__PURE__ */ cached(() => {
  if (globalConfig.jitless || typeof navigator < "u" && navigator?.userAgent?.includes("Cloudflare"))
    return !1;
  try {
    let F = Function;
    return new F(""), !0;
  } catch {
    return !1;
  }
});
function isPlainObject(o) {
  if (isObject(o) === !1)
    return !1;
  let ctor = o.constructor;
  if (ctor === void 0 || typeof ctor != "function")
    return !0;
  let prot = ctor.prototype;
  return !(isObject(prot) === !1 || Object.prototype.hasOwnProperty.call(prot, "isPrototypeOf") === !1);
}
function shallowClone(o) {
  return isPlainObject(o) ? { ...o } : Array.isArray(o) ? [...o] : o instanceof Map ? new Map(o) : o instanceof Set ? new Set(o) : o;
}
function numKeys(data) {
  let keyCount = 0;
  for (let key in data)
    Object.prototype.hasOwnProperty.call(data, key) && keyCount++;
  return keyCount;
}
var getParsedType = (data) => {
  let t = typeof data;
  switch (t) {
    case "undefined":
      return "undefined";
    case "string":
      return "string";
    case "number":
      return Number.isNaN(data) ? "nan" : "number";
    case "boolean":
      return "boolean";
    case "function":
      return "function";
    case "bigint":
      return "bigint";
    case "symbol":
      return "symbol";
    case "object":
      return Array.isArray(data) ? "array" : data === null ? "null" : data.then && typeof data.then == "function" && data.catch && typeof data.catch == "function" ? "promise" : typeof Map < "u" && data instanceof Map ? "map" : typeof Set < "u" && data instanceof Set ? "set" : typeof Date < "u" && data instanceof Date ? "date" : typeof File < "u" && data instanceof File ? "file" : "object";
    default:
      throw new Error(`Unknown data type: ${t}`);
  }
}, propertyKeyTypes = /* @__PURE__ */ new Set(["string", "number", "symbol"]), primitiveTypes = /* @__PURE__ */ new Set([
  "string",
  "number",
  "bigint",
  "boolean",
  "symbol",
  "undefined"
]);
function escapeRegex(str) {
  return str.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
function clone(inst, def, params) {
  let cl = new inst._zod.constr(def ?? inst._zod.def);
  return (!def || params?.parent) && (cl._zod.parent = inst), cl;
}
function normalizeParams(_params) {
  let params = _params;
  if (!params)
    return {};
  if (typeof params == "string")
    return { error: () => params };
  if (params?.message !== void 0) {
    if (params?.error !== void 0)
      throw new Error("Cannot specify both `message` and `error` params");
    params.error = params.message;
  }
  return delete params.message, typeof params.error == "string" ? { ...params, error: () => params.error } : params;
}
function createTransparentProxy(getter) {
  let target;
  return new Proxy({}, {
    get(_, prop, receiver) {
      return target ?? (target = getter()), Reflect.get(target, prop, receiver);
    },
    set(_, prop, value, receiver) {
      return target ?? (target = getter()), Reflect.set(target, prop, value, receiver);
    },
    has(_, prop) {
      return target ?? (target = getter()), Reflect.has(target, prop);
    },
    deleteProperty(_, prop) {
      return target ?? (target = getter()), Reflect.deleteProperty(target, prop);
    },
    ownKeys(_) {
      return target ?? (target = getter()), Reflect.ownKeys(target);
    },
    getOwnPropertyDescriptor(_, prop) {
      return target ?? (target = getter()), Reflect.getOwnPropertyDescriptor(target, prop);
    },
    defineProperty(_, prop, descriptor) {
      return target ?? (target = getter()), Reflect.defineProperty(target, prop, descriptor);
    }
  });
}
function stringifyPrimitive(value) {
  return typeof value == "bigint" ? value.toString() + "n" : typeof value == "string" ? `"${value}"` : `${value}`;
}
function optionalKeys(shape) {
  return Object.keys(shape).filter((k) => shape[k]._zod.optin !== void 0 && shape[k]._zod.optout === "optional");
}
var NUMBER_FORMAT_RANGES = {
  safeint: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
  float32: [-34028234663852886e22, 34028234663852886e22],
  float64: [-Number.MAX_VALUE, Number.MAX_VALUE]
}, BIGINT_FORMAT_RANGES = {
  int64: [/* @__PURE__ */ BigInt("-9223372036854775808"), /* @__PURE__ */ BigInt("9223372036854775807")],
  uint64: [/* @__PURE__ */ BigInt(0), /* @__PURE__ */ BigInt("18446744073709551615")]
};
function pick(schema, mask) {
  let currDef = schema._zod.def, checks = currDef.checks;
  if (checks && checks.length > 0)
    throw new Error(".pick() cannot be used on object schemas containing refinements");
  let newShape = {};
  return mirrorShape(newShape, schema, maskedKeys(schema, mask)), clone(schema, mergeDefs(currDef, { shape: newShape, checks: [] }));
}
function maskedKeys(schema, mask) {
  let raw = sourceShape(schema), keys = [];
  for (let key of Reflect.ownKeys(mask)) {
    if (!Object.getOwnPropertyDescriptor(raw, key)?.enumerable)
      throw new Error(`Unrecognized key: "${String(key)}"`);
    mask[key] && keys.push(key);
  }
  return keys;
}
function omit(schema, mask) {
  let currDef = schema._zod.def, checks = currDef.checks;
  if (checks && checks.length > 0)
    throw new Error(".omit() cannot be used on object schemas containing refinements");
  let omitted = new Set(maskedKeys(schema, mask)), newShape = {};
  return mirrorShape(newShape, schema, Reflect.ownKeys(sourceShape(schema)).filter((key) => !omitted.has(key))), clone(schema, mergeDefs(currDef, { shape: newShape, checks: [] }));
}
function extend(schema, shape) {
  if (!isPlainObject(shape))
    throw new Error("Invalid input to extend: expected a plain object");
  let checks = schema._zod.def.checks;
  if (checks && checks.length > 0) {
    let existingShape = sourceShape(schema);
    for (let key of Reflect.ownKeys(shape))
      if (Object.getOwnPropertyDescriptor(existingShape, key) !== void 0)
        throw new Error("Cannot overwrite keys on object schemas containing refinements. Use `.safeExtend()` instead.");
  }
  return clone(schema, mergeDefs(schema._zod.def, { shape: extended(schema, shape) }));
}
function extended(schema, shape) {
  let newShape = {};
  return mirrorShape(newShape, schema, Reflect.ownKeys(sourceShape(schema))), mirrorProps(newShape, shape), newShape;
}
function safeExtend(schema, shape) {
  if (!isPlainObject(shape))
    throw new Error("Invalid input to safeExtend: expected a plain object");
  return clone(schema, mergeDefs(schema._zod.def, { shape: extended(schema, shape) }));
}
function merge(a, b) {
  if (!b?._zod?.def)
    throw new Error("Invalid input to merge: expected an object schema. To merge a plain shape, use `.extend()`.");
  if (a._zod.def.checks?.length)
    throw new Error(".merge() cannot be used on object schemas containing refinements. Use .safeExtend() instead.");
  let newShape = {};
  mirrorShape(newShape, a, Reflect.ownKeys(sourceShape(a))), mirrorShape(newShape, b, Reflect.ownKeys(sourceShape(b)));
  let def = mergeDefs(a._zod.def, {
    shape: newShape,
    get catchall() {
      return b._zod.def.catchall;
    },
    checks: b._zod.def.checks ?? []
  });
  return clone(a, def);
}
function partial(Class2, schema, mask, name = "partial") {
  let checks = schema._zod.def.checks;
  if (checks && checks.length > 0)
    throw new Error(`.${name}() cannot be used on object schemas containing refinements`);
  let selected = mask ? new Set(maskedKeys(schema, mask)) : void 0, newShape = {};
  return mirrorShape(newShape, schema, Reflect.ownKeys(sourceShape(schema)), Class2 && ((value, key) => selected && !selected.has(key) ? value : new Class2({ type: "optional", innerType: value }))), clone(schema, mergeDefs(schema._zod.def, { shape: newShape, checks: [] }));
}
function required(Class2, schema, mask) {
  let selected = mask ? new Set(maskedKeys(schema, mask)) : void 0, newShape = {};
  return mirrorShape(newShape, schema, Reflect.ownKeys(sourceShape(schema)), (value, key) => (
    // overwrite with non-optional
    selected && !selected.has(key) ? value : new Class2({ type: "nonoptional", innerType: value })
  )), clone(schema, mergeDefs(schema._zod.def, { shape: newShape }));
}
function aborted(x, startIndex = 0) {
  if (x.aborted === !0)
    return !0;
  for (let i = startIndex; i < x.issues.length; i++)
    if (x.issues[i]?.continue !== !0)
      return !0;
  return !1;
}
function explicitlyAborted(x, startIndex = 0) {
  if (x.aborted === !0)
    return !0;
  for (let i = startIndex; i < x.issues.length; i++)
    if (x.issues[i]?.continue === !1)
      return !0;
  return !1;
}
function prefixIssues(path, issues) {
  return issues.map((iss) => {
    var _a3;
    return (_a3 = iss).path ?? (_a3.path = []), iss.path.unshift(path), iss;
  });
}
function unwrapMessage(message) {
  return typeof message == "string" ? message : message?.message;
}
function sizeCaps(defChecks) {
  let caps = [];
  for (let ch of defChecks ?? []) {
    let d = ch._zod.def;
    if (!/_(length|size)$|_equals$/.test(d.check))
      break;
    let max = d.maximum ?? d.length ?? d.size;
    max >= 0 && caps.push([max, ch]);
  }
  return caps;
}
function attachSchema(issues, start, inst) {
  var _a3;
  for (let i = start; i < issues.length; i++)
    (_a3 = issues[i]).schema ?? (_a3.schema = inst);
}
function finalizeIssue(iss, ctx, config2) {
  var _a3;
  let traits = iss.inst?._zod?.traits;
  traits?.has("$ZodType") && (traits.has("$ZodCheck") ? (_a3 = iss).schema ?? (_a3.schema = iss.inst) : iss.schema = iss.inst);
  let schemaError = iss.schema !== iss.inst ? iss.schema?._zod.def?.error : void 0, message = iss.message ? iss.message : unwrapMessage(iss.inst?._zod.def?.error?.(iss)) ?? unwrapMessage(schemaError?.(iss)) ?? unwrapMessage(ctx?.error?.(iss)) ?? unwrapMessage(config2.customError?.(iss)) ?? unwrapMessage(config2.localeError?.(iss)) ?? "Invalid input", full2 = {};
  for (let k of Object.keys(iss))
    k === "inst" || k === "schema" || k === "continue" || k === "input" || k === "__proto__" || (full2[k] = iss[k]);
  return full2.path ?? (full2.path = []), full2.message = message, ctx?.reportInput && (full2.input = iss.input), full2;
}
function getSizableOrigin(input) {
  return input instanceof Set ? "set" : input instanceof Map ? "map" : input instanceof File ? "file" : "unknown";
}
var highSurrogate = /[\uD800-\uDBFF]/;
function codePointLength(str) {
  let units = str.length;
  if (!highSurrogate.test(str))
    return units;
  let count2 = units;
  for (let i = 0; i < units - 1; i++)
    (str.charCodeAt(i) & 64512) === 55296 && (str.charCodeAt(i + 1) & 64512) === 56320 && (count2--, i++);
  return count2;
}
function getLengthableOrigin(input) {
  return Array.isArray(input) ? "array" : typeof input == "string" ? "string" : "unknown";
}
function parsedType(data) {
  let t = typeof data;
  switch (t) {
    case "number":
      return Number.isNaN(data) ? "nan" : "number";
    case "object": {
      if (data === null)
        return "null";
      if (Array.isArray(data))
        return "array";
      let obj = data;
      if (obj && Object.getPrototypeOf(obj) !== Object.prototype && "constructor" in obj && obj.constructor)
        return obj.constructor.name;
    }
  }
  return t;
}
function issue(...args) {
  let [iss, input, inst] = args;
  return typeof iss == "string" ? {
    message: iss,
    code: "custom",
    input,
    inst
  } : { ...iss };
}
function cleanEnum(obj) {
  return Object.entries(obj).filter(([k, _]) => Number.isNaN(Number.parseInt(k, 10))).map((el) => el[1]);
}
function base64ToUint8Array(base642) {
  let binaryString = atob(base642), bytes = new Uint8Array(binaryString.length);
  for (let i = 0; i < binaryString.length; i++)
    bytes[i] = binaryString.charCodeAt(i);
  return bytes;
}
function uint8ArrayToBase64(bytes) {
  let binaryString = "";
  for (let i = 0; i < bytes.length; i++)
    binaryString += String.fromCharCode(bytes[i]);
  return btoa(binaryString);
}
function base64urlToUint8Array(base64url2) {
  let base642 = base64url2.replace(/-/g, "+").replace(/_/g, "/"), padding = "=".repeat((4 - base642.length % 4) % 4);
  return base64ToUint8Array(base642 + padding);
}
function uint8ArrayToBase64url(bytes) {
  return uint8ArrayToBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}
function hexToUint8Array(hex) {
  let cleanHex = hex.replace(/^0x/, "");
  if (cleanHex.length % 2 !== 0)
    throw new Error("Invalid hex string length");
  let bytes = new Uint8Array(cleanHex.length / 2);
  for (let i = 0; i < cleanHex.length; i += 2)
    bytes[i / 2] = Number.parseInt(cleanHex.slice(i, i + 2), 16);
  return bytes;
}
function uint8ArrayToHex(bytes) {
  return Array.from(bytes).map((b) => b.toString(16).padStart(2, "0")).join("");
}
var Class = class {
  constructor(..._args) {
  }
};
function members(proto, table) {
  for (let key in table) {
    let desc = Object.getOwnPropertyDescriptor(table, key);
    desc.get ? Object.defineProperty(proto, key, { ...desc, enumerable: !1 }) : defineBound(proto, key, desc.value);
  }
}
function own(inst, key, value, enumerable = !0) {
  return Object.defineProperty(inst, key, { configurable: !0, writable: !0, enumerable, value }), value;
}
function hide(inst, key, value) {
  return own(inst, key, value, !1);
}
// @__NO_SIDE_EFFECTS__
function derived(computes, table) {
  for (let key in computes) {
    let compute = computes[key];
    Object.defineProperty(table, key, {
      configurable: !0,
      enumerable: !0,
      get() {
        return own(this, key, compute(this));
      },
      set(value) {
        own(this, key, value);
      }
    });
  }
  return table;
}
function defineBound(proto, key, fn) {
  Object.defineProperty(proto, key, {
    configurable: !0,
    get() {
      return this == null ? fn : own(this, key, fn.bind(this));
    },
    set(value) {
      own(this, key, value);
    }
  });
}
function claim(inst, sentinel) {
  let proto = Object.getPrototypeOf(inst);
  return sentinel in proto ? void 0 : proto;
}
var installing, broke = !1, breaker = {
  configurable: !0,
  get() {
    broke = !0;
  }
};
function defineLazyInternal(inst, key, compute) {
  let proto = Object.getPrototypeOf(inst._zod);
  if (key in proto && installing !== inst._zod) {
    installing = void 0;
    return;
  }
  installing = inst._zod, Object.defineProperty(proto, key, {
    configurable: !0,
    get() {
      Object.defineProperty(this, key, breaker);
      let outer = broke;
      broke = !1;
      try {
        let value = compute(this);
        return broke ? delete this[key] : Object.defineProperty(this, key, { configurable: !0, writable: !0, value }), broke = broke || outer, value;
      } catch (err) {
        throw delete this[key], broke = broke || outer, err;
      }
    },
    set(value) {
      Object.defineProperty(this, key, { configurable: !0, writable: !0, value });
    }
  });
}
function installLazyProp(inst, key, make, enumerable) {
  let proto = claim(inst, key);
  proto && Object.defineProperty(proto, key, {
    configurable: !0,
    get() {
      let desc = { configurable: !0, writable: !0, enumerable, value: void 0 };
      return Object.defineProperty(this, key, desc), desc.value = make(this), Object.defineProperty(this, key, desc), desc.value;
    },
    set(value) {
      Object.defineProperty(this, key, { configurable: !0, writable: !0, enumerable, value });
    }
  });
}
var CONSTANT_CATCH = "~constantCatch";
function constantCatch(value) {
  let fn = () => value;
  return fn[CONSTANT_CATCH] = !0, fn;
}

// node_modules/zod/v4/core/core.js
var _a;
var _zodDesc = { value: void 0, enumerable: !1 }, _E = "captureStackTrace" in Error ? Error : null;
function newError(Definition) {
  let E = _E;
  if (E) {
    let saved = E.stackTraceLimit;
    if (typeof saved == "number") {
      try {
        E.stackTraceLimit = 0;
      } catch {
        return _E = null, new Definition();
      }
      try {
        return new Definition();
      } finally {
        E.stackTraceLimit = saved;
      }
    }
  }
  return new Definition();
}
// @__NO_SIDE_EFFECTS__
function $constructor(name, initializer3, proto, params) {
  let zodProto = {};
  function Internals(def) {
    this.def = def, this.constr = _, this.traits = /* @__PURE__ */ new Set();
  }
  Internals.prototype = zodProto;
  let protoMembers = proto, initialized = protoMembers && /* @__PURE__ */ new WeakSet();
  function init(inst, def) {
    if (inst._zod) {
      if (inst._zod.traits.has(name))
        return;
    } else {
      _zodDesc.value = new Internals(def);
      try {
        Object.defineProperty(inst, "_zod", _zodDesc);
      } finally {
        _zodDesc.value = void 0;
      }
    }
    if (inst._zod.traits.add(name), initializer3(inst, def), initialized) {
      let own2 = Object.getPrototypeOf(inst), ctorProto = inst._zod.constr.prototype, up = own2;
      for (; up && up !== ctorProto; )
        up = Object.getPrototypeOf(up);
      let target = up ?? own2;
      initialized.has(target) || (initialized.add(target), members(target, protoMembers));
    }
    let proto2 = _.prototype;
    for (let k in proto2)
      Object.prototype.hasOwnProperty.call(proto2, k) && (k in inst || (inst[k] = proto2[k].bind(inst)));
  }
  let Parent = params?.Parent ?? Object;
  class Definition extends Parent {
  }
  Object.defineProperty(Definition, "name", { value: name });
  function _(def) {
    let inst = params?.Parent ? newError(Definition) : this;
    init(inst, def);
    let deferred = inst._zod.deferred;
    if (deferred) {
      for (let fn of deferred)
        fn();
      inst._zod.deferred = void 0;
    }
    let pp = globalThis.__zod_globalConfig?.postProcessor;
    return pp && pp(inst), inst;
  }
  return Object.defineProperty(_, "init", { value: init }), Object.defineProperty(_, Symbol.hasInstance, {
    value: (inst) => params?.Parent && inst instanceof params.Parent ? !0 : inst?._zod?.traits?.has(name)
  }), Object.defineProperty(_, "name", { value: name }), _;
}
var $ZodAsyncError = class extends Error {
  constructor() {
    super("Encountered Promise during synchronous parse. Use .parseAsync() instead.");
  }
}, $ZodEncodeError = class extends Error {
  constructor(name) {
    super(`Encountered unidirectional transform during encode: ${name}`), this.name = "ZodEncodeError";
  }
};
(_a = globalThis).__zod_globalConfig ?? (_a.__zod_globalConfig = {});
var globalConfig = globalThis.__zod_globalConfig;
function config(newConfig) {
  return newConfig && Object.assign(globalConfig, newConfig), globalConfig;
}

// node_modules/zod/v4/core/errors.js
function _getMessage() {
  let internals = this._zod;
  return internals.message ?? (internals.message = JSON.stringify(internals.def, jsonStringifyReplacer, 2)), internals.message;
}
function _setMessage(value) {
  this._zod.message = value;
}
var _messageDesc = {
  get: _getMessage,
  set: _setMessage,
  enumerable: !0,
  configurable: !0
}, _issuesDesc = { value: void 0, enumerable: !1 }, _installedToString = /* @__PURE__ */ new WeakSet([Object.prototype, Error.prototype]), initializer = (inst, def) => {
  inst.name = "$ZodError", _issuesDesc.value = def, Object.defineProperty(inst, "issues", _issuesDesc), _issuesDesc.value = void 0, Object.defineProperty(inst, "message", _messageDesc);
  let proto = Object.getPrototypeOf(inst);
  _installedToString.has(proto) || (_installedToString.add(proto), Object.defineProperty(proto, "toString", {
    configurable: !0,
    enumerable: !1,
    get() {
      let value = () => this.message;
      return Object.defineProperty(this, "toString", { value, configurable: !0, writable: !0 }), value;
    },
    set(value) {
      Object.defineProperty(this, "toString", { value, configurable: !0, writable: !0 });
    }
  }));
}, $ZodError = $constructor("$ZodError", initializer), $ZodRealError = $constructor("$ZodError", initializer, void 0, {
  Parent: Error
});
function node(obj, key, make) {
  return Object.prototype.hasOwnProperty.call(obj, key) || (key === "__proto__" ? Object.defineProperty(obj, key, { value: make(), writable: !0, enumerable: !0, configurable: !0 }) : obj[key] = make()), obj[key];
}
function flattenError(error2, mapper = (issue2) => issue2.message) {
  let fieldErrors = {}, formErrors = [];
  for (let sub of error2.issues)
    sub.path.length > 0 ? node(fieldErrors, sub.path[0], () => []).push(mapper(sub)) : formErrors.push(mapper(sub));
  return { formErrors, fieldErrors };
}
function formatError(error2, mapper = (issue2) => issue2.message) {
  let fieldErrors = { _errors: [] }, processError = (error3, path = []) => {
    for (let issue2 of error3.issues)
      if (issue2.code === "invalid_union" && issue2.errors.length)
        issue2.errors.map((issues) => processError({ issues }, [...path, ...issue2.path]));
      else if (issue2.code === "invalid_key")
        processError({ issues: issue2.issues }, [...path, ...issue2.path]);
      else if (issue2.code === "invalid_element")
        processError({ issues: issue2.issues }, [...path, ...issue2.path]);
      else {
        let fullpath = [...path, ...issue2.path];
        if (fullpath.length === 0)
          fieldErrors._errors.push(mapper(issue2));
        else {
          let curr = fieldErrors, i = 0;
          for (; i < fullpath.length; ) {
            let el = fullpath[i], terminal = i === fullpath.length - 1;
            if (el === "_errors") {
              terminal && curr._errors.push(mapper(issue2)), i++;
              continue;
            }
            Object.prototype.hasOwnProperty.call(curr, el) || Object.defineProperty(curr, el, {
              value: { _errors: [] },
              enumerable: !0,
              writable: !0,
              configurable: !0
            });
            let node2 = curr[el];
            terminal && node2._errors.push(mapper(issue2)), curr = node2, i++;
          }
        }
      }
  };
  return processError(error2), fieldErrors;
}

// node_modules/zod/v4/core/parse.js
function finalizeParams(callee, params) {
  return { callee: params?.callee ?? callee, Err: params?.Err };
}
var _parse = (_Err) => {
  let fn = (schema, value, _ctx, _params) => {
    let ctx = _ctx ? { ..._ctx, async: !1 } : { async: !1 }, result = schema._zod.run({ value, issues: [] }, ctx);
    if (result instanceof Promise)
      throw new $ZodAsyncError();
    if (result.issues.length) {
      let e = new (_params?.Err ?? _Err)(result.issues.map((iss) => finalizeIssue(iss, ctx, config())));
      throw captureStackTrace(e, _params?.callee ?? fn), e;
    }
    return result.value;
  };
  return fn;
};
var _parseAsync = (_Err) => {
  let fn = async (schema, value, _ctx, params) => {
    let ctx = _ctx ? { ..._ctx, async: !0 } : { async: !0 }, result = schema._zod.run({ value, issues: [] }, ctx);
    if (result instanceof Promise && (result = await result), result.issues.length) {
      let e = new (params?.Err ?? _Err)(result.issues.map((iss) => finalizeIssue(iss, ctx, config())));
      throw captureStackTrace(e, params?.callee ?? fn), e;
    }
    return result.value;
  };
  return fn;
};
var _safeParse = (_Err) => (schema, value, _ctx) => {
  let ctx = _ctx ? { ..._ctx, async: !1 } : { async: !1 }, result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise)
    throw new $ZodAsyncError();
  return result.issues.length ? failure(_Err, result.issues, ctx) : { success: !0, data: result.value };
};
function failure(Err, issues, ctx) {
  let error2;
  return {
    success: !1,
    get error() {
      return error2 || (error2 = new Err(issues.map((iss) => finalizeIssue(iss, ctx, config()))), issues = void 0, ctx = void 0), error2;
    },
    set error(e) {
      error2 = e, issues = void 0, ctx = void 0;
    }
  };
}
var _safeParseAsync = (_Err) => async (schema, value, _ctx) => {
  let ctx = _ctx ? { ..._ctx, async: !0 } : { async: !0 }, result = schema._zod.run({ value, issues: [] }, ctx);
  return result instanceof Promise && (result = await result), result.issues.length ? failure(_Err, result.issues, ctx) : { success: !0, data: result.value };
};
var COMPILE_INVALID = /* @__PURE__ */ Symbol.for("zod.compile.invalid"), COMPILE_FALLBACK = /* @__PURE__ */ Symbol.for("zod.compile.fallback"), validate = ((schema, value, _ctx) => {
  let validator = schema._zod.bag.validator;
  if (validator !== void 0) {
    if (validator(value) !== COMPILE_INVALID)
      return !0;
    if (validator.definite === !0 && _ctx === void 0)
      return !1;
  }
  return validateFallback(schema, value, _ctx);
});
function validateFallback(schema, value, _ctx) {
  let ctx = _ctx ? { ..._ctx, async: !1, abortEarly: !0 } : { async: !1, abortEarly: !0 }, fallbackRun = schema._zod.bag.fallbackRun, result;
  if (fallbackRun ? (ctx[COMPILE_FALLBACK] = !0, result = fallbackRun({ value, issues: [] }, ctx)) : result = schema._zod.run({ value, issues: [] }, ctx), result instanceof Promise)
    throw new $ZodAsyncError();
  return result.issues.length === 0;
}
var validateAsync = async (schema, value, _ctx) => {
  let ctx = _ctx ? { ..._ctx, async: !0, abortEarly: !0 } : { async: !0, abortEarly: !0 }, result = schema._zod.run({ value, issues: [] }, ctx);
  return result instanceof Promise && (result = await result), result.issues.length === 0;
}, _encode = (_Err) => {
  let parse3 = _parse(_Err), fn = (schema, value, _ctx, _params) => {
    let ctx = _ctx ? { ..._ctx, direction: "backward" } : { direction: "backward" };
    return parse3(schema, value, ctx, finalizeParams(fn, _params));
  };
  return fn;
};
var _decode = (_Err) => {
  let parse3 = _parse(_Err), fn = (schema, value, _ctx, _params) => parse3(schema, value, _ctx, finalizeParams(fn, _params));
  return fn;
};
var _encodeAsync = (_Err) => {
  let parseAsync2 = _parseAsync(_Err), fn = async (schema, value, _ctx, _params) => {
    let ctx = _ctx ? { ..._ctx, direction: "backward" } : { direction: "backward" };
    return await parseAsync2(schema, value, ctx, finalizeParams(fn, _params));
  };
  return fn;
};
var _decodeAsync = (_Err) => {
  let parseAsync2 = _parseAsync(_Err), fn = async (schema, value, _ctx, _params) => await parseAsync2(schema, value, _ctx, finalizeParams(fn, _params));
  return fn;
};
var _safeEncode = (_Err) => (schema, value, _ctx) => {
  let ctx = _ctx ? { ..._ctx, direction: "backward" } : { direction: "backward" };
  return _safeParse(_Err)(schema, value, ctx);
};
var _safeDecode = (_Err) => (schema, value, _ctx) => _safeParse(_Err)(schema, value, _ctx);
var _safeEncodeAsync = (_Err) => async (schema, value, _ctx) => {
  let ctx = _ctx ? { ..._ctx, direction: "backward" } : { direction: "backward" };
  return _safeParseAsync(_Err)(schema, value, ctx);
};
var _safeDecodeAsync = (_Err) => async (schema, value, _ctx) => _safeParseAsync(_Err)(schema, value, _ctx);

// node_modules/zod/v4/core/regexes.js
var cuid = /^[cC][0-9a-z]{6,}$/, cuid2 = /^[0-9a-z]+$/, ulid = /^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/, xid = /^[0-9a-vA-V]{20}$/, ksuid = /^[A-Za-z0-9]{27}$/, nanoid = /^[a-zA-Z0-9_-]{21}$/;
function nanoidOfLength(length) {
  return new RegExp(`^[a-zA-Z0-9_-]{${length}}$`);
}
var duration = /^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$/;
var guid = /^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$/, uuid = (version2) => version2 ? new RegExp(`^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-${version2}[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12})$`) : /^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$/;
var email = /^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$/;
var _emoji = "^(?=[\\s\\S]*[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20E3])[\\p{Extended_Pictographic}\\p{Emoji_Component}]+$";
function emoji() {
  return new RegExp(_emoji, "u");
}
var ipv4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])$/, ipv6 = /^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))$/;
var cidrv4 = /^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\/([0-9]|[1-2][0-9]|3[0-2])$/, cidrv6 = /^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))\/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$/, base64 = /^$|^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$/, base64url = /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$/;
var httpProtocol = /^https?$/, e164 = /^\+[1-9]\d{6,14}$/;
var dateSource = "(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))";
function anchor(source) {
  return new RegExp(`^${source}$`);
}
var date = /* @__PURE__ */ anchor(dateSource);
function timeSource(args) {
  let hhmm = "(?:[01]\\d|2[0-3]):[0-5]\\d";
  return typeof args.precision == "number" ? args.precision === -1 ? `${hhmm}` : args.precision === 0 ? `${hhmm}:[0-5]\\d` : `${hhmm}:[0-5]\\d\\.\\d{${args.precision}}` : args.seconds ? `${hhmm}:[0-5]\\d(?:\\.\\d+)?` : `${hhmm}(?::[0-5]\\d(?:\\.\\d+)?)?`;
}
function time(args) {
  return new RegExp(`^${timeSource(args)}$`);
}
function datetime(args) {
  let opts = ["Z"];
  args.offset && opts.push("([+-](?:[01]\\d|2[0-3]):[0-5]\\d)");
  let qualified = `${timeSource({ precision: args.precision, seconds: !0 })}(?:${opts.join("|")})`, timeRegex = args.local ? `${qualified}|${timeSource({ precision: args.precision })}` : qualified;
  return new RegExp(`^${dateSource}T(?:${timeRegex})$`);
}
var anyString = /^[\s\S]{0,}$/;
var bigint = /^-?\d+n?$/, integer = /^-?\d+$/, number = /^-?\d+(?:\.\d+)?$/, boolean = /^(?:true|false)$/i;
var lowercase = /^[^A-Z]*$/, uppercase = /^[^a-z]*$/;

// node_modules/zod/v4/core/checks.js
var $ZodCheck = /* @__PURE__ */ $constructor("$ZodCheck", (inst, def) => {
  var _a3;
  inst._zod ?? (inst._zod = {}), inst._zod.def = def, (_a3 = inst._zod).onattach ?? (_a3.onattach = []);
});
var _whenHasLength = (payload) => {
  let val = payload.value;
  return !nullish(val) && val.length !== void 0;
}, numericOriginMap = {
  number: "number",
  bigint: "bigint",
  object: "date"
}, $ZodCheckLessThan = /* @__PURE__ */ $constructor("$ZodCheckLessThan", (inst, def) => {
  $ZodCheck.init(inst, def);
  let origin = numericOriginMap[typeof def.value];
  inst._zod.check = (payload) => {
    (def.inclusive ? payload.value <= def.value : payload.value < def.value) || payload.issues.push({
      origin: numericOriginMap[typeof payload.value] ?? origin,
      code: "too_big",
      maximum: typeof def.value == "object" ? def.value.getTime() : def.value,
      input: payload.value,
      inclusive: def.inclusive,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckGreaterThan = /* @__PURE__ */ $constructor("$ZodCheckGreaterThan", (inst, def) => {
  $ZodCheck.init(inst, def);
  let origin = numericOriginMap[typeof def.value];
  inst._zod.check = (payload) => {
    (def.inclusive ? payload.value >= def.value : payload.value > def.value) || payload.issues.push({
      origin: numericOriginMap[typeof payload.value] ?? origin,
      code: "too_small",
      minimum: typeof def.value == "object" ? def.value.getTime() : def.value,
      input: payload.value,
      inclusive: def.inclusive,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckMultipleOf = /* @__PURE__ */ $constructor("$ZodCheckMultipleOf", (inst, def) => {
  $ZodCheck.init(inst, def), inst._zod.check = (payload) => {
    if (typeof payload.value != typeof def.value)
      throw new Error("Cannot mix number and bigint in multiple_of check.");
    (typeof payload.value == "bigint" ? (
      // `value % 0n` throws, and nothing is a multiple of zero — the number branch already fails this way via NaN
      def.value !== BigInt(0) && payload.value % def.value === BigInt(0)
    ) : floatSafeRemainder(payload.value, def.value) === 0) || payload.issues.push({
      origin: typeof payload.value,
      code: "not_multiple_of",
      divisor: def.value,
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckNumberFormat = /* @__PURE__ */ $constructor("$ZodCheckNumberFormat", (inst, def) => {
  $ZodCheck.init(inst, def), def.format = def.format || "float64";
  let isInt = def.format?.includes("int"), origin = isInt ? "int" : "number", [minimum, maximum] = NUMBER_FORMAT_RANGES[def.format];
  inst._zod.check = (payload) => {
    let input = payload.value;
    if (isInt) {
      if (!Number.isInteger(input)) {
        payload.issues.push({
          expected: origin,
          format: def.format,
          code: "invalid_type",
          continue: !1,
          input,
          inst
        });
        return;
      }
      if (!Number.isSafeInteger(input)) {
        input > 0 ? payload.issues.push({
          input,
          code: "too_big",
          maximum: Number.MAX_SAFE_INTEGER,
          note: "Integers must be within the safe integer range.",
          inst,
          origin,
          inclusive: !0,
          continue: !def.abort
        }) : payload.issues.push({
          input,
          code: "too_small",
          minimum: Number.MIN_SAFE_INTEGER,
          note: "Integers must be within the safe integer range.",
          inst,
          origin,
          inclusive: !0,
          continue: !def.abort
        });
        return;
      }
    }
    input < minimum && payload.issues.push({
      origin: "number",
      input,
      code: "too_small",
      minimum,
      inclusive: !0,
      inst,
      continue: !def.abort
    }), input > maximum && payload.issues.push({
      origin: "number",
      input,
      code: "too_big",
      maximum,
      inclusive: !0,
      inst,
      continue: !def.abort
    });
  };
});
var $ZodCheckMaxLength = /* @__PURE__ */ $constructor("$ZodCheckMaxLength", (inst, def) => {
  var _a3;
  $ZodCheck.init(inst, def), (_a3 = inst._zod.def).when ?? (_a3.when = _whenHasLength), inst._zod.check = (payload) => {
    let input = payload.value, units = input.length;
    if ((typeof input == "string" && units > def.maximum ? codePointLength(input) : units) <= def.maximum)
      return;
    let origin = getLengthableOrigin(input);
    payload.issues.push({
      origin,
      code: "too_big",
      maximum: def.maximum,
      inclusive: !0,
      input,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckMinLength = /* @__PURE__ */ $constructor("$ZodCheckMinLength", (inst, def) => {
  var _a3;
  $ZodCheck.init(inst, def), (_a3 = inst._zod.def).when ?? (_a3.when = _whenHasLength), inst._zod.check = (payload) => {
    let input = payload.value, units = input.length;
    if ((typeof input == "string" && units >= def.minimum && units < def.minimum * 2 ? codePointLength(input) : units) >= def.minimum)
      return;
    let origin = getLengthableOrigin(input);
    payload.issues.push({
      origin,
      code: "too_small",
      minimum: def.minimum,
      inclusive: !0,
      input,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckLengthEquals = /* @__PURE__ */ $constructor("$ZodCheckLengthEquals", (inst, def) => {
  var _a3;
  $ZodCheck.init(inst, def), (_a3 = inst._zod.def).when ?? (_a3.when = _whenHasLength), inst._zod.check = (payload) => {
    let input = payload.value, units = input.length, length = typeof input == "string" && units >= def.length && units <= def.length * 2 ? codePointLength(input) : units;
    if (length === def.length)
      return;
    let origin = getLengthableOrigin(input), tooBig = length > def.length;
    payload.issues.push({
      origin,
      ...tooBig ? { code: "too_big", maximum: def.length } : { code: "too_small", minimum: def.length },
      inclusive: !0,
      exact: !0,
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckStringFormat = /* @__PURE__ */ $constructor("$ZodCheckStringFormat", (inst, def) => {
  var _a3, _b;
  $ZodCheck.init(inst, def), def.pattern ? (_a3 = inst._zod).check ?? (_a3.check = (payload) => {
    def.pattern.lastIndex = 0, !def.pattern.test(payload.value) && payload.issues.push({
      origin: "string",
      code: "invalid_format",
      format: def.format,
      input: payload.value,
      ...def.pattern ? { pattern: def.pattern.toString() } : {},
      inst,
      continue: !def.abort
    });
  }) : (_b = inst._zod).check ?? (_b.check = () => {
  });
}), $ZodCheckRegex = /* @__PURE__ */ $constructor("$ZodCheckRegex", (inst, def) => {
  $ZodCheckStringFormat.init(inst, def), inst._zod.check = (payload) => {
    def.pattern.lastIndex = 0, !def.pattern.test(payload.value) && payload.issues.push({
      origin: "string",
      code: "invalid_format",
      format: "regex",
      input: payload.value,
      pattern: def.pattern.toString(),
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckLowerCase = /* @__PURE__ */ $constructor("$ZodCheckLowerCase", (inst, def) => {
  def.pattern ?? (def.pattern = lowercase), $ZodCheckStringFormat.init(inst, def);
}), $ZodCheckUpperCase = /* @__PURE__ */ $constructor("$ZodCheckUpperCase", (inst, def) => {
  def.pattern ?? (def.pattern = uppercase), $ZodCheckStringFormat.init(inst, def);
}), $ZodCheckIncludes = /* @__PURE__ */ $constructor("$ZodCheckIncludes", (inst, def) => {
  $ZodCheck.init(inst, def);
  let escapedRegex = escapeRegex(def.includes), pattern = new RegExp(typeof def.position == "number" ? `^.{${def.position},}${escapedRegex}` : escapedRegex);
  def.pattern = pattern, inst._zod.check = (payload) => {
    payload.value.includes(def.includes, def.position) || payload.issues.push({
      origin: "string",
      code: "invalid_format",
      format: "includes",
      includes: def.includes,
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckStartsWith = /* @__PURE__ */ $constructor("$ZodCheckStartsWith", (inst, def) => {
  $ZodCheck.init(inst, def);
  let pattern = new RegExp(`^${escapeRegex(def.prefix)}.*`);
  def.pattern ?? (def.pattern = pattern), inst._zod.check = (payload) => {
    payload.value.startsWith(def.prefix) || payload.issues.push({
      origin: "string",
      code: "invalid_format",
      format: "starts_with",
      prefix: def.prefix,
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
}), $ZodCheckEndsWith = /* @__PURE__ */ $constructor("$ZodCheckEndsWith", (inst, def) => {
  $ZodCheck.init(inst, def);
  let pattern = new RegExp(`.*${escapeRegex(def.suffix)}$`);
  def.pattern ?? (def.pattern = pattern), inst._zod.check = (payload) => {
    payload.value.endsWith(def.suffix) || payload.issues.push({
      origin: "string",
      code: "invalid_format",
      format: "ends_with",
      suffix: def.suffix,
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
});
var $ZodCheckOverwrite = /* @__PURE__ */ $constructor("$ZodCheckOverwrite", (inst, def) => {
  $ZodCheck.init(inst, def), inst._zod.check = (payload) => {
    payload.value = def.tx(payload.value);
  };
});

// node_modules/zod/v4/core/doc.js
var Doc = class {
  constructor(args = [], closed = {}) {
    this.content = [], this.indent = 0, this.args = args, this.closed = closed;
  }
  // the compiler catches a child's throw and keeps writing into this doc, so the indent has to unwind with it
  indented(fn) {
    this.indent += 1;
    try {
      fn(this);
    } finally {
      this.indent -= 1;
    }
  }
  write(arg) {
    if (typeof arg == "function") {
      arg(this, { execution: "sync" }), arg(this, { execution: "async" });
      return;
    }
    let lines = arg.split(`
`).filter((x) => x), minIndent = Math.min(...lines.map((x) => x.length - x.trimStart().length)), dedented = lines.map((x) => x.slice(minIndent)).map((x) => " ".repeat(this.indent * 2) + x);
    for (let line of dedented)
      this.content.push(line);
  }
  compile() {
    let F = Function, content = this?.content ?? [""];
    return new F(...Object.keys(this.closed), `return function (${this.args.join(", ")}) {
${content.join(`
`)}
};`)(...Object.values(this.closed));
  }
};

// node_modules/zod/v4/core/versions.js
var version = {
  major: 4,
  minor: 6,
  patch: 7
};

// node_modules/zod/v4/core/schemas.js
var $ZodType = /* @__PURE__ */ $constructor("$ZodType", (inst, def) => {
  var _a3;
  inst ?? (inst = {}), inst._zod.def = def, inst._zod.bag = inst._zod.bag || {}, inst._zod.version = version;
  let defChecks = inst._zod.def.checks, checks = inst._zod.traits.has("$ZodCheck") ? [inst, ...defChecks ?? []] : defChecks?.length ? [...defChecks] : [];
  for (let ch of checks)
    for (let fn of ch._zod.onattach)
      fn(inst);
  if (checks.length === 0)
    (_a3 = inst._zod).deferred ?? (_a3.deferred = []), inst._zod.deferred?.push(() => {
      inst._zod.run = inst._zod.parse;
    });
  else {
    let runChecks = (payload, checks2, ctx) => {
      if (payload.memo)
        return payload;
      let isAborted = aborted(payload), asyncResult;
      for (let ch of checks2) {
        if (ch._zod.def.when) {
          if (explicitlyAborted(payload) || !ch._zod.def.when(payload))
            continue;
        } else if (isAborted)
          continue;
        let currLen = payload.issues.length, _ = ch._zod.check(payload);
        if (_ instanceof Promise && ctx?.async === !1)
          throw new $ZodAsyncError();
        if (asyncResult || _ instanceof Promise)
          asyncResult = (asyncResult ?? Promise.resolve()).then(async () => {
            await _, payload.issues.length !== currLen && (attachSchema(payload.issues, currLen, inst), isAborted || (isAborted = aborted(payload, currLen)));
          });
        else {
          if (payload.issues.length === currLen)
            continue;
          attachSchema(payload.issues, currLen, inst), isAborted || (isAborted = aborted(payload, currLen));
        }
      }
      return asyncResult ? asyncResult.then(() => payload) : payload;
    }, handleCanaryResult = (canary, payload, ctx) => {
      if (aborted(canary))
        return canary.aborted = !0, canary;
      let checkResult = runChecks(payload, checks, ctx);
      if (checkResult instanceof Promise) {
        if (ctx.async === !1)
          throw new $ZodAsyncError();
        return checkResult.then((checkResult2) => inst._zod.parse(checkResult2, ctx));
      }
      return inst._zod.parse(checkResult, ctx);
    };
    inst._zod.run = (payload, ctx) => {
      if (ctx.skipChecks)
        return inst._zod.parse(payload, ctx);
      if (ctx.direction === "backward") {
        let canary = inst._zod.parse({ value: payload.value, issues: [] }, { ...ctx, skipChecks: !0 });
        return canary instanceof Promise ? canary.then((canary2) => handleCanaryResult(canary2, payload, ctx)) : handleCanaryResult(canary, payload, ctx);
      }
      let result = inst._zod.parse(payload, ctx);
      if (result instanceof Promise) {
        if (ctx.async === !1)
          throw new $ZodAsyncError();
        return result.then((result2) => runChecks(result2, checks, ctx));
      }
      return runChecks(result, checks, ctx);
    };
  }
}, {
  // Wrappers extend this by installing a richer factory over it; reading it eagerly would defeat the laziness.
  get "~standard"() {
    return hide(this, "~standard", standardProps(this));
  },
  set "~standard"(value) {
    own(this, "~standard", value);
  }
}), toStandardResult = (r, ctx) => r.issues.length ? { issues: r.issues.map((iss) => finalizeIssue(iss, ctx, config())) } : { value: r.value };
async function validateAsync2(inst, value) {
  let ctx = { async: !0 };
  return toStandardResult(await inst._zod.run({ value, issues: [] }, ctx), ctx);
}
function standardProps(inst) {
  return {
    validate: (value) => {
      let ctx = { async: !1 };
      try {
        let r = inst._zod.run({ value, issues: [] }, ctx);
        if (!(r instanceof Promise))
          return toStandardResult(r, ctx);
      } catch {
      }
      return validateAsync2(inst, value);
    },
    vendor: "zod",
    version: 1
  };
}
var $ZodString = /* @__PURE__ */ $constructor("$ZodString", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.pattern = def.pattern ?? anyString, inst._zod.parse = (payload, _) => {
    if (def.coerce)
      try {
        payload.value = String(payload.value);
      } catch {
      }
    return typeof payload.value == "string" || payload.issues.push({
      expected: "string",
      code: "invalid_type",
      input: payload.value,
      inst
    }), payload;
  };
}), $ZodStringFormat = /* @__PURE__ */ $constructor("$ZodStringFormat", (inst, def) => {
  $ZodCheckStringFormat.init(inst, def), $ZodString.init(inst, def);
}), $ZodGUID = /* @__PURE__ */ $constructor("$ZodGUID", (inst, def) => {
  def.pattern ?? (def.pattern = guid), $ZodStringFormat.init(inst, def);
}), $ZodUUID = /* @__PURE__ */ $constructor("$ZodUUID", (inst, def) => {
  if (def.version) {
    let v = {
      v1: 1,
      v2: 2,
      v3: 3,
      v4: 4,
      v5: 5,
      v6: 6,
      v7: 7,
      v8: 8
    }[def.version];
    if (v === void 0)
      throw new Error(`Invalid UUID version: "${def.version}"`);
    def.pattern ?? (def.pattern = uuid(v));
  } else
    def.pattern ?? (def.pattern = uuid());
  $ZodStringFormat.init(inst, def);
}), $ZodEmail = /* @__PURE__ */ $constructor("$ZodEmail", (inst, def) => {
  def.pattern ?? (def.pattern = email), $ZodStringFormat.init(inst, def);
}), URL_BAD_FORMAT = 1, URL_UNPARSEABLE = 2;
function canParseURL(input) {
  try {
    return typeof URL < "u" && typeof URL.canParse == "function" ? URL.canParse(input) : (new URL(input), !0);
  } catch {
    return !1;
  }
}
function validateURL(trimmed, def) {
  return !("normalize" in def) && !("hostname" in def) && !("protocol" in def) ? canParseURL(trimmed) || URL_UNPARSEABLE : parseURLObject(trimmed, def);
}
function parseURLObject(trimmed, def) {
  if (!def.normalize && def.protocol?.source === httpProtocol.source && !/^https?:\/\//i.test(trimmed))
    return URL_BAD_FORMAT;
  try {
    if (typeof URL < "u") {
      let URLStatic = URL;
      if (typeof URLStatic.parse == "function")
        return URLStatic.parse(trimmed) ?? URL_UNPARSEABLE;
    }
    return new URL(trimmed);
  } catch {
    return URL_UNPARSEABLE;
  }
}
var asciiTabOrNewline = /[\t\n\r]/g;
function stripTabAndNewline(value) {
  return value.replace(asciiTabOrNewline, "");
}
function urlHostnameOk(url, hostname) {
  return hostname.lastIndex = 0, hostname.test(url.hostname);
}
function urlProtocolOk(url, protocol) {
  return protocol.lastIndex = 0, protocol.test(url.protocol.endsWith(":") ? url.protocol.slice(0, -1) : url.protocol);
}
var $ZodURL = /* @__PURE__ */ $constructor("$ZodURL", (inst, def) => {
  $ZodStringFormat.init(inst, def), inst._zod.check = (payload) => {
    try {
      let trimmed = payload.value.trim(), url = validateURL(trimmed, def);
      if (url === URL_BAD_FORMAT) {
        payload.issues.push({
          code: "invalid_format",
          format: "url",
          note: "Invalid URL format",
          input: payload.value,
          inst,
          continue: !def.abort
        });
        return;
      }
      if (url === URL_UNPARSEABLE) {
        payload.issues.push({
          code: "invalid_format",
          format: "url",
          input: payload.value,
          inst,
          continue: !def.abort
        });
        return;
      }
      if (url === !0) {
        payload.value = stripTabAndNewline(trimmed);
        return;
      }
      def.hostname && !urlHostnameOk(url, def.hostname) && payload.issues.push({
        code: "invalid_format",
        format: "url",
        note: "Invalid hostname",
        pattern: def.hostname.source,
        input: payload.value,
        inst,
        continue: !def.abort
      }), def.protocol && !urlProtocolOk(url, def.protocol) && payload.issues.push({
        code: "invalid_format",
        format: "url",
        note: "Invalid protocol",
        pattern: def.protocol.source,
        input: payload.value,
        inst,
        continue: !def.abort
      }), payload.value = def.normalize ? url.href : stripTabAndNewline(trimmed);
      return;
    } catch {
      payload.issues.push({
        code: "invalid_format",
        format: "url",
        input: payload.value,
        inst,
        continue: !def.abort
      });
    }
  };
}), $ZodEmoji = /* @__PURE__ */ $constructor("$ZodEmoji", (inst, def) => {
  def.pattern ?? (def.pattern = emoji()), $ZodStringFormat.init(inst, def);
}), $ZodNanoID = /* @__PURE__ */ $constructor("$ZodNanoID", (inst, def) => {
  if (def.length !== void 0 && (!Number.isInteger(def.length) || def.length < 1))
    throw new Error(`Invalid nanoid length: ${def.length}`);
  def.pattern ?? (def.pattern = def.length === void 0 ? nanoid : nanoidOfLength(def.length)), $ZodStringFormat.init(inst, def);
}), $ZodCUID = /* @__PURE__ */ $constructor("$ZodCUID", (inst, def) => {
  def.pattern ?? (def.pattern = cuid), $ZodStringFormat.init(inst, def);
}), $ZodCUID2 = /* @__PURE__ */ $constructor("$ZodCUID2", (inst, def) => {
  def.pattern ?? (def.pattern = cuid2), $ZodStringFormat.init(inst, def);
}), $ZodULID = /* @__PURE__ */ $constructor("$ZodULID", (inst, def) => {
  def.pattern ?? (def.pattern = ulid), $ZodStringFormat.init(inst, def);
}), $ZodXID = /* @__PURE__ */ $constructor("$ZodXID", (inst, def) => {
  def.pattern ?? (def.pattern = xid), $ZodStringFormat.init(inst, def);
}), $ZodKSUID = /* @__PURE__ */ $constructor("$ZodKSUID", (inst, def) => {
  def.pattern ?? (def.pattern = ksuid), $ZodStringFormat.init(inst, def);
}), $ZodISODateTime = /* @__PURE__ */ $constructor("$ZodISODateTime", (inst, def) => {
  def.pattern ?? (def.pattern = datetime(def)), $ZodStringFormat.init(inst, def);
}), $ZodISODate = /* @__PURE__ */ $constructor("$ZodISODate", (inst, def) => {
  def.pattern ?? (def.pattern = date), $ZodStringFormat.init(inst, def);
}), $ZodISOTime = /* @__PURE__ */ $constructor("$ZodISOTime", (inst, def) => {
  def.pattern ?? (def.pattern = time(def)), $ZodStringFormat.init(inst, def);
}), $ZodISODuration = /* @__PURE__ */ $constructor("$ZodISODuration", (inst, def) => {
  def.pattern ?? (def.pattern = duration), $ZodStringFormat.init(inst, def);
}), $ZodIPv4 = /* @__PURE__ */ $constructor("$ZodIPv4", (inst, def) => {
  def.pattern ?? (def.pattern = ipv4), $ZodStringFormat.init(inst, def);
}), ipv6Alphabet = /^[0-9a-fA-F:.]+$/;
function isValidIPv6(value) {
  return ipv6Alphabet.test(value) ? canParseURL(`http://[${value}]`) : !1;
}
var $ZodIPv6 = /* @__PURE__ */ $constructor("$ZodIPv6", (inst, def) => {
  def.pattern ?? (def.pattern = ipv6), $ZodStringFormat.init(inst, def), inst._zod.check = (payload) => {
    isValidIPv6(payload.value) || payload.issues.push({
      code: "invalid_format",
      format: "ipv6",
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
});
var $ZodCIDRv4 = /* @__PURE__ */ $constructor("$ZodCIDRv4", (inst, def) => {
  def.pattern ?? (def.pattern = cidrv4), $ZodStringFormat.init(inst, def);
});
function isValidCIDRv6(value) {
  let parts = value.split("/");
  if (parts.length !== 2)
    return !1;
  let [address, prefix] = parts;
  if (!prefix)
    return !1;
  let prefixNum = Number(prefix);
  return `${prefixNum}` !== prefix || prefixNum < 0 || prefixNum > 128 ? !1 : isValidIPv6(address);
}
var $ZodCIDRv6 = /* @__PURE__ */ $constructor("$ZodCIDRv6", (inst, def) => {
  def.pattern ?? (def.pattern = cidrv6), $ZodStringFormat.init(inst, def), inst._zod.check = (payload) => {
    isValidCIDRv6(payload.value) || payload.issues.push({
      code: "invalid_format",
      format: "cidrv6",
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
});
function isValidBase64(data) {
  if (data === "")
    return !0;
  if (/\s/.test(data) || data.length % 4 !== 0)
    return !1;
  try {
    return atob(data), !0;
  } catch {
    return !1;
  }
}
var base64Charset = /^[0-9a-zA-Z+/]*={0,2}$/, $ZodBase64 = /* @__PURE__ */ $constructor("$ZodBase64", (inst, def) => {
  def.pattern ?? (def.pattern = base64Charset), $ZodStringFormat.init(inst, def), inst._zod.check = (payload) => {
    isValidBase64(payload.value) || payload.issues.push({
      code: "invalid_format",
      format: "base64",
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
}), base64urlCharset = /^[A-Za-z0-9_-]*$/;
function isValidBase64URL(data) {
  if (!base64urlCharset.test(data))
    return !1;
  let base642 = data.replace(/[-_]/g, (c) => c === "-" ? "+" : "/"), padded = base642.padEnd(Math.ceil(base642.length / 4) * 4, "=");
  return isValidBase64(padded);
}
var $ZodBase64URL = /* @__PURE__ */ $constructor("$ZodBase64URL", (inst, def) => {
  def.pattern ?? (def.pattern = base64urlCharset), $ZodStringFormat.init(inst, def), inst._zod.check = (payload) => {
    isValidBase64URL(payload.value) || payload.issues.push({
      code: "invalid_format",
      format: "base64url",
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
}), $ZodE164 = /* @__PURE__ */ $constructor("$ZodE164", (inst, def) => {
  def.pattern ?? (def.pattern = e164), $ZodStringFormat.init(inst, def);
});
function isValidJWT(token, algorithm = null) {
  try {
    let tokensParts = token.split(".");
    if (tokensParts.length !== 3)
      return !1;
    let [header] = tokensParts;
    if (!header)
      return !1;
    let parsedHeader = JSON.parse(atob(header));
    return !("typ" in parsedHeader && parsedHeader?.typ !== "JWT" || !parsedHeader.alg || algorithm && (!("alg" in parsedHeader) || parsedHeader.alg !== algorithm));
  } catch {
    return !1;
  }
}
var $ZodJWT = /* @__PURE__ */ $constructor("$ZodJWT", (inst, def) => {
  $ZodStringFormat.init(inst, def), inst._zod.check = (payload) => {
    isValidJWT(payload.value, def.alg) || payload.issues.push({
      code: "invalid_format",
      format: "jwt",
      input: payload.value,
      inst,
      continue: !def.abort
    });
  };
});
var $ZodNumber = /* @__PURE__ */ $constructor("$ZodNumber", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.pattern = number, inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = Number(payload.value);
      } catch {
      }
    let input = payload.value;
    if (typeof input == "number" && !Number.isNaN(input) && Number.isFinite(input))
      return payload;
    let received = typeof input == "number" ? Number.isNaN(input) ? "NaN" : Number.isFinite(input) ? void 0 : String(input) : void 0;
    return payload.issues.push({
      expected: "number",
      code: "invalid_type",
      input,
      inst,
      ...received ? { received } : {}
    }), payload;
  };
}), $ZodNumberFormat = /* @__PURE__ */ $constructor("$ZodNumberFormat", (inst, def) => {
  $ZodCheckNumberFormat.init(inst, def), $ZodNumber.init(inst, def);
}), $ZodBoolean = /* @__PURE__ */ $constructor("$ZodBoolean", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.pattern = boolean, inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = !!payload.value;
      } catch {
      }
    let input = payload.value;
    return typeof input == "boolean" || payload.issues.push({
      expected: "boolean",
      code: "invalid_type",
      input,
      inst
    }), payload;
  };
}), $ZodBigInt = /* @__PURE__ */ $constructor("$ZodBigInt", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.pattern = bigint, inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = BigInt(payload.value);
      } catch {
      }
    return typeof payload.value == "bigint" || payload.issues.push({
      expected: "bigint",
      code: "invalid_type",
      input: payload.value,
      inst
    }), payload;
  };
});
var $ZodUnknown = /* @__PURE__ */ $constructor("$ZodUnknown", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.parse = (payload) => payload;
}), $ZodNever = /* @__PURE__ */ $constructor("$ZodNever", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.parse = (payload, _ctx) => (payload.issues.push({
    expected: "never",
    code: "invalid_type",
    input: payload.value,
    inst
  }), payload);
});
var $ZodDate = /* @__PURE__ */ $constructor("$ZodDate", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = new Date(payload.value);
      } catch {
      }
    let input = payload.value, isDate = input instanceof Date;
    return isDate && !Number.isNaN(input.getTime()) || payload.issues.push({
      expected: "date",
      code: "invalid_type",
      input,
      ...isDate ? { received: "Invalid Date" } : {},
      inst
    }), payload;
  };
});
function capSize(inst, size) {
  let caps = sizeCaps(inst._zod.def.checks);
  if (!caps.length)
    return;
  let cap = Math.min(...caps.map((c) => c[0])), parse3 = inst._zod.parse;
  inst._zod.parse = (payload, ctx) => {
    let n = size(payload.value);
    if (n > cap && !ctx?.skipChecks && ctx?.direction !== "backward") {
      for (let [max, ch] of sizeCaps(inst._zod.def.checks))
        if (n > max && ch._zod.def.when(payload)) {
          let start = payload.issues.length;
          return ch._zod.check(payload), payload.issues[start].continue = !1, attachSchema(payload.issues, start, inst), payload;
        }
    }
    return parse3(payload, ctx);
  };
}
var arraySize = (input) => Array.isArray(input) ? input.length : -1;
function handleArrayResult(result, final, index) {
  result.issues.length && final.issues.push(...prefixIssues(index, result.issues)), final.value[index] = result.value;
}
var $ZodArray = /* @__PURE__ */ $constructor("$ZodArray", (inst, def) => {
  $ZodType.init(inst, def);
  let memo2 = globalConfig.memoizer;
  memo2?.attach(inst), inst._zod.parse = (payload, ctx) => {
    let input = payload.value;
    if (!Array.isArray(input))
      return payload.issues.push({
        expected: "array",
        code: "invalid_type",
        input,
        inst
      }), payload;
    payload.value = memo2 ? memo2.alloc(inst, payload, Array(input.length), ctx) : Array(input.length);
    let proms = [], abortEarly = ctx?.abortEarly;
    for (let i = 0; i < input.length; i++) {
      let item = input[i], result = def.element._zod.run({
        value: item,
        issues: []
      }, ctx);
      if (result instanceof Promise)
        proms.push(result.then((result2) => handleArrayResult(result2, payload, i)));
      else if (handleArrayResult(result, payload, i), abortEarly && result.issues.length !== 0 && aborted(result))
        break;
    }
    return proms.length ? Promise.all(proms).then(() => payload) : payload;
  }, capSize(inst, arraySize);
});
function handlePropertyResult(result, final, key, input, optin, optout) {
  let isPresent = key in input, isOptionalOut = optout === "optional";
  if (!(!isPresent && isOptionalOut && optin === "optional")) {
    if (result.issues.length) {
      if (optin !== void 0 && isOptionalOut && !isPresent)
        return;
      final.issues.push(...prefixIssues(key, result.issues));
    }
    if (!isPresent && optin === void 0) {
      result.issues.length || final.issues.push({
        code: "invalid_type",
        expected: "nonoptional",
        input: void 0,
        path: [key]
      });
      return;
    }
    result.value === void 0 ? (isPresent || optin === "defaulted" && !isOptionalOut) && (final.value[key] = void 0) : final.value[key] = result.value;
  }
}
var NO_SYMBOL_KEYS = [];
function normalizeDef(def) {
  let keys = Object.keys(def.shape), ownSymbols = Object.getOwnPropertySymbols(def.shape), symbolKeys = ownSymbols.length ? ownSymbols : NO_SYMBOL_KEYS, allKeys = symbolKeys.length ? [...keys, ...symbolKeys] : keys;
  for (let k of allKeys)
    if (!def.shape?.[k]?._zod?.traits?.has("$ZodType"))
      throw new Error(`Invalid element at key "${String(k)}": expected a Zod schema`);
  let okeys = optionalKeys(def.shape);
  return {
    ...def,
    allKeys,
    symbolKeys,
    // string-only: handleCatchall matches it against `for...in`, which never yields a symbol
    keySet: new Set(keys),
    numKeys: keys.length,
    optionalKeys: new Set(okeys)
  };
}
function handleCatchall(proms, input, payload, ctx, def, inst, abortEarly) {
  let unrecognized = [], keySet = def.keySet, _catchall = def.catchall._zod, t = _catchall.def.type, optin = _catchall.optin, optout = _catchall.optout, seen = 0;
  for (let key in input) {
    if (abortEarly && payload.issues.length !== seen) {
      if (aborted(payload, seen))
        break;
      seen = payload.issues.length;
    }
    if (keySet.has(key))
      continue;
    if (key === "__proto__") {
      t === "never" && unrecognized.push(key);
      continue;
    }
    if (t === "never") {
      unrecognized.push(key);
      continue;
    }
    let r = _catchall.run({ value: input[key], issues: [] }, ctx);
    r instanceof Promise ? proms.push(r.then((r2) => handlePropertyResult(r2, payload, key, input, optin, optout))) : handlePropertyResult(r, payload, key, input, optin, optout);
  }
  return unrecognized.length && payload.issues.push({
    code: "unrecognized_keys",
    keys: unrecognized,
    input,
    inst,
    // Describes the shape of the input, not the validity of the parsed value, so it never aborts. The parse still fails; the schema's own checks just get to run first, and an enclosing intersection can reconcile the key against a sibling operand.
    continue: !0
  }), proms.length ? Promise.all(proms).then(() => payload) : payload;
}
var $ZodObject = /* @__PURE__ */ $constructor("$ZodObject", (inst, def) => {
  $ZodType.init(inst, def);
  let desc = Object.getOwnPropertyDescriptor(def, "shape"), sh = desc?.get ? desc.get.raw : def.shape ?? {};
  if (sh) {
    let get = () => {
      let newSh = { ...sh };
      return Object.defineProperty(def, "shape", { value: newSh }), get.raw = newSh, newSh;
    };
    get.raw = sh, Object.defineProperty(def, "shape", { get });
  }
  let _normalized = cached(() => normalizeDef(def));
  defineLazyInternal(inst, "propValues", (zod) => {
    let shape = zod.def.shape, propValues = {};
    for (let key in shape) {
      let field = shape[key]._zod;
      if (field.values) {
        Object.prototype.hasOwnProperty.call(propValues, key) || assignProp(propValues, key, /* @__PURE__ */ new Set());
        for (let v of field.values)
          propValues[key].add(v);
        field.optin !== void 0 && propValues[key].add(void 0);
      }
    }
    return propValues;
  });
  let isObject2 = isObject, catchall = def.catchall, value, memo2 = globalConfig.memoizer;
  memo2?.attach(inst), inst._zod.parse = (payload, ctx) => {
    value ?? (value = _normalized.value);
    let input = payload.value;
    if (!isObject2(input))
      return payload.issues.push({
        expected: "object",
        code: "invalid_type",
        input,
        inst
      }), payload;
    payload.value = memo2 ? memo2.alloc(inst, payload, {}, ctx) : {};
    let proms = [], shape = value.shape, abortEarly = ctx?.abortEarly, seen = payload.issues.length;
    for (let key of value.allKeys) {
      if (abortEarly && payload.issues.length !== seen) {
        if (aborted(payload, seen))
          break;
        seen = payload.issues.length;
      }
      if (key === "__proto__")
        continue;
      let el = shape[key], optin = el._zod.optin, optout = el._zod.optout, r = el._zod.run({ value: input[key], issues: [] }, ctx);
      r instanceof Promise ? proms.push(r.then((r2) => handlePropertyResult(r2, payload, key, input, optin, optout))) : handlePropertyResult(r, payload, key, input, optin, optout);
    }
    return catchall ? handleCatchall(proms, input, payload, ctx, _normalized.value, inst, abortEarly === !0) : proms.length ? Promise.all(proms).then(() => payload) : payload;
  };
}), $ZodObjectJIT = /* @__PURE__ */ $constructor("$ZodObjectJIT", (inst, def) => {
  $ZodObject.init(inst, def);
  let superParse = inst._zod.parse, _normalized = cached(() => normalizeDef(def)), memo2 = globalConfig.memoizer, generateFastpass = (shape) => {
    let normalized = _normalized.value, syms = normalized.symbolKeys, doc = new Doc(["payload", "ctx"], { shape, inst, memo: memo2, syms }), parseStr = (k) => `shape[${k}]._zod.run({ value: input[${k}], issues: [] }, ctx)`, prefixStr = (id, k) => `
          let ${id}_ab = false;
          for (let i = 0; i < ${id}.issues.length; i++) {
            const iss = ${id}.issues[i];
            iss.path = iss.path ? [${k}, ...iss.path] : [${k}];
            payload.issues.push(iss);
            if (iss.continue !== true) ${id}_ab = true;
          }
          if (${id}_ab && ctx && ctx.abortEarly) {
            payload.value = newResult;
            return payload;
          }`;
    doc.write("const input = payload.value;");
    let ids = /* @__PURE__ */ Object.create(null), counter = 0;
    for (let key of normalized.allKeys)
      ids[key] = `key_${counter++}`;
    doc.write(memo2 ? "const newResult = memo.alloc(inst, payload, {}, ctx);" : "const newResult = {};");
    for (let key of normalized.allKeys) {
      if (key === "__proto__")
        continue;
      let id = ids[key], k = typeof key == "symbol" ? `syms[${syms.indexOf(key)}]` : esc(key), isPresent = `${k} in input`, schema = shape[key], optin = schema?._zod?.optin, isOptionalIn = optin !== void 0, isOptionalOut = schema?._zod?.optout === "optional";
      if (doc.write(`const ${id} = ${parseStr(k)};`), isOptionalIn && isOptionalOut) {
        let assign = optin === "optional" ? `${id}_present` : `${id}.value !== undefined || ${id}_present`;
        doc.write(`
        const ${id}_present = ${isPresent};
        if (!${id}.issues.length || ${id}_present) {
          if (${id}.issues.length) {${prefixStr(id, k)}
          }

          if (${assign}) {
            newResult[${k}] = ${id}.value;
          }
        }

      `);
      } else isOptionalIn ? (doc.write(`
        if (${id}.issues.length) {${prefixStr(id, k)}
        }
      `), optin === "defaulted" ? doc.write(`newResult[${k}] = ${id}.value;`) : doc.write(`
        if (${id}.value !== undefined || ${isPresent}) {
          newResult[${k}] = ${id}.value;
        }
      `)) : doc.write(`
        const ${id}_present = ${isPresent};
        if (${id}.issues.length) {${prefixStr(id, k)}
        }
        if (!${id}_present && !${id}.issues.length) {
          payload.issues.push({
            code: "invalid_type",
            expected: "nonoptional",
            input: undefined,
            path: [${k}]
          });
          if (ctx && ctx.abortEarly) {
            payload.value = newResult;
            return payload;
          }
        }

        if (${id}_present) {
          newResult[${k}] = ${id}.value;
        }

      `);
    }
    return doc.write("payload.value = newResult;"), doc.write("return payload;"), doc.compile();
  }, fastpass, isObject2 = isObject, jit = !globalConfig.jitless, fastEnabled = jit && allowsEval.value, catchall = def.catchall, value;
  inst._zod.parse = (payload, ctx) => {
    value ?? (value = _normalized.value);
    let input = payload.value;
    return isObject2(input) ? jit && fastEnabled && ctx?.async === !1 && ctx.jitless !== !0 ? (fastpass || (fastpass = generateFastpass(def.shape)), payload = fastpass(payload, ctx), catchall ? handleCatchall([], input, payload, ctx, value, inst, ctx?.abortEarly === !0) : payload) : superParse(payload, ctx) : (payload.issues.push({
      expected: "object",
      code: "invalid_type",
      input,
      inst
    }), payload);
  };
});
function handleUnionResults(results, final, inst, ctx) {
  for (let result of results)
    if (result.issues.length === 0)
      return final.value = result.value, final;
  let nonaborted = results.filter((r) => !aborted(r));
  return nonaborted.length === 1 ? (final.value = nonaborted[0].value, nonaborted[0]) : (final.issues.push({
    code: "invalid_union",
    input: final.value,
    inst,
    errors: results.map((result) => result.issues.map((iss) => finalizeIssue(iss, ctx, config())))
  }), final);
}
var $ZodUnion = /* @__PURE__ */ $constructor("$ZodUnion", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "optin", (zod) => zod.def.options.some((o) => o._zod.optin === "defaulted") ? "defaulted" : zod.def.options.some((o) => o._zod.optin !== void 0) ? "optional" : void 0), defineLazyInternal(inst, "optout", (zod) => zod.def.options.some((o) => o._zod.optout === "optional") ? "optional" : void 0), defineLazyInternal(inst, "values", (zod) => {
    if (zod.def.options.every((o) => o._zod.values))
      return new Set(zod.def.options.flatMap((option) => Array.from(option._zod.values)));
  }), defineLazyInternal(inst, "pattern", (zod) => {
    if (zod.def.options.every((o) => o._zod.pattern)) {
      let patterns = zod.def.options.map((o) => o._zod.pattern);
      return new RegExp(`^(${patterns.map((p) => cleanRegex(p.source)).join("|")})$`);
    }
  });
  let first = def.options.length === 1 ? def.options[0]._zod.run : null;
  inst._zod.parse = (payload, ctx) => {
    if (first)
      return first(payload, ctx);
    let async = !1, results = [];
    for (let option of def.options) {
      let result = option._zod.run({
        value: payload.value,
        issues: []
      }, ctx);
      if (result instanceof Promise)
        results.push(result), async = !0;
      else {
        if (result.issues.length === 0)
          return result;
        results.push(result);
      }
    }
    return async ? Promise.all(results).then((results2) => handleUnionResults(results2, payload, inst, ctx)) : handleUnionResults(results, payload, inst, ctx);
  };
});
function discriminatorMap(def) {
  let map = /* @__PURE__ */ new Map();
  for (let option of def.options) {
    let values2 = option._zod.propValues?.[def.discriminator];
    if (!values2 || values2.size === 0)
      throw new Error(`Invalid discriminated union option at index "${def.options.indexOf(option)}"`);
    for (let value of values2)
      if (map.has(value)) {
        if (value !== void 0)
          throw new Error(`Duplicate discriminator value "${String(value)}"`);
        map.set(value, null);
      } else
        map.set(value, option);
  }
  return map;
}
var $ZodDiscriminatedUnion = /* @__PURE__ */ $constructor("$ZodDiscriminatedUnion", (inst, def) => {
  def.inclusive = !1, $ZodUnion.init(inst, def);
  let _super = inst._zod.parse;
  defineLazyInternal(inst, "propValues", (zod) => {
    let propValues = {}, undefinedCount = 0;
    for (let option of zod.def.options) {
      let pv = option._zod.propValues;
      if (!pv || Object.keys(pv).length === 0)
        throw new Error(`Invalid discriminated union option at index "${zod.def.options.indexOf(option)}"`);
      pv[zod.def.discriminator]?.has(void 0) && undefinedCount++;
      for (let [k, v] of Object.entries(pv)) {
        Object.prototype.hasOwnProperty.call(propValues, k) || assignProp(propValues, k, /* @__PURE__ */ new Set());
        for (let val of v)
          propValues[k].add(val);
      }
    }
    return !zod.def.unionFallback && undefinedCount > 1 && propValues[zod.def.discriminator]?.delete(void 0), propValues;
  }), def.options.forEach((option, i) => {
    let propShape = rawShape(option._zod.def);
    if (propShape && !Object.prototype.hasOwnProperty.call(propShape, def.discriminator))
      throw new Error(`Invalid discriminated union option at index "${i}"`);
  });
  let disc = cached(() => discriminatorMap(def));
  inst._zod.parse = (payload, ctx) => {
    let input = payload.value;
    if (!isObject(input))
      return payload.issues.push({
        code: "invalid_type",
        expected: "object",
        input,
        inst
      }), payload;
    let value = input?.[def.discriminator], opt = disc.value.get(value);
    return opt && (value !== void 0 || ctx.direction !== "backward") ? opt._zod.run(payload, ctx) : def.unionFallback || ctx.direction === "backward" ? _super(payload, ctx) : (payload.issues.push({
      code: "invalid_union",
      errors: [],
      note: "No matching discriminator",
      discriminator: def.discriminator,
      options: Array.from(disc.value.keys()).filter((value2) => disc.value.get(value2) !== null),
      input,
      path: [def.discriminator],
      inst
    }), payload);
  };
}), $ZodIntersection = /* @__PURE__ */ $constructor("$ZodIntersection", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.parse = (payload, ctx) => {
    let input = payload.value, left = def.left._zod.run({ value: input, issues: [] }, ctx), right = def.right._zod.run({ value: input, issues: [] }, ctx);
    return left instanceof Promise || right instanceof Promise ? Promise.all([left, right]).then(([left2, right2]) => handleIntersectionResults(payload, left2, right2)) : handleIntersectionResults(payload, left, right);
  };
});
function mergeValues(a, b) {
  if (a === b)
    return { valid: !0, data: a };
  if (a instanceof Date && b instanceof Date && +a == +b)
    return { valid: !0, data: a };
  if (isPlainObject(a) && isPlainObject(b)) {
    let bKeys = Object.keys(b), sharedKeys = Object.keys(a).filter((key) => bKeys.indexOf(key) !== -1), newObj = { ...a, ...b };
    Object.prototype.hasOwnProperty.call(newObj, "__proto__") && delete newObj.__proto__;
    for (let key of sharedKeys) {
      if (key === "__proto__")
        continue;
      let sharedValue = mergeValues(a[key], b[key]);
      if (!sharedValue.valid)
        return {
          valid: !1,
          mergeErrorPath: [key, ...sharedValue.mergeErrorPath]
        };
      newObj[key] = sharedValue.data;
    }
    return { valid: !0, data: newObj };
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length)
      return { valid: !1, mergeErrorPath: [] };
    let newArray = [];
    for (let index = 0; index < a.length; index++) {
      let itemA = a[index], itemB = b[index], sharedValue = mergeValues(itemA, itemB);
      if (!sharedValue.valid)
        return {
          valid: !1,
          mergeErrorPath: [index, ...sharedValue.mergeErrorPath]
        };
      newArray.push(sharedValue.data);
    }
    return { valid: !0, data: newArray };
  }
  return { valid: !1, mergeErrorPath: [] };
}
function handleIntersectionResults(result, left, right) {
  let unrecKeys = /* @__PURE__ */ new Map(), unrecIssue, keyIssues = /* @__PURE__ */ new Map(), collect = (iss, side) => {
    let keys;
    if (iss.code === "unrecognized_keys" && !iss.path?.length)
      unrecIssue ?? (unrecIssue = iss), keys = iss.keys;
    else if (iss.code === "invalid_key" && iss.origin === "record" && iss.path?.length === 1) {
      let k = String(iss.path[0]);
      keyIssues.has(k) || keyIssues.set(k, iss), keys = [k];
    } else
      return !1;
    for (let k of keys)
      unrecKeys.has(k) || unrecKeys.set(k, {}), unrecKeys.get(k)[side] = !0;
    return !0;
  };
  for (let iss of left.issues)
    collect(iss, "l") || result.issues.push(iss);
  for (let iss of right.issues)
    collect(iss, "r") || result.issues.push(iss);
  let bothKeys = [...unrecKeys].filter(([, f]) => f.l && f.r).map(([k]) => k);
  if (bothKeys.length) {
    let aggregated = unrecIssue ? bothKeys.filter((k) => unrecIssue.keys.includes(k)) : [];
    aggregated.length && result.issues.push({ ...unrecIssue, keys: aggregated });
    for (let k of bothKeys)
      !aggregated.includes(k) && keyIssues.has(k) && result.issues.push(keyIssues.get(k));
  }
  let merged = mergeValues(left.value, right.value);
  if (!merged.valid) {
    if (aborted(result))
      return result;
    throw new Error(`Unmergable intersection. Error path: ${JSON.stringify(merged.mergeErrorPath)}`);
  }
  return result.value = merged.data, result;
}
var $ZodRecord = /* @__PURE__ */ $constructor("$ZodRecord", (inst, def) => {
  $ZodType.init(inst, def);
  let memo2 = globalConfig.memoizer;
  memo2?.attach(inst), inst._zod.parse = (payload, ctx) => {
    let input = payload.value;
    if (!isPlainObject(input))
      return payload.issues.push({
        expected: "record",
        code: "invalid_type",
        input,
        inst
      }), payload;
    let proms = [], values2 = def.keyType._zod.values;
    if (values2 && !def.partial) {
      payload.value = memo2 ? memo2.alloc(inst, payload, {}, ctx) : {};
      let recordKeys = /* @__PURE__ */ new Set();
      for (let key of values2)
        if (typeof key == "string" || typeof key == "number" || typeof key == "symbol") {
          if (recordKeys.add(typeof key == "number" ? key.toString() : key), key === "__proto__")
            continue;
          let keyResult = def.keyType._zod.run({ value: key, issues: [] }, ctx);
          if (keyResult instanceof Promise)
            throw new Error("Async schemas not supported in object keys currently");
          if (keyResult.issues.length) {
            payload.issues.push({
              code: "invalid_key",
              origin: "record",
              issues: keyResult.issues.map((iss) => finalizeIssue(iss, ctx, config())),
              input: key,
              path: [key],
              inst
            });
            continue;
          }
          let outKey = keyResult.value;
          if (outKey === "__proto__")
            continue;
          let result = def.valueType._zod.run({ value: input[key], issues: [] }, ctx);
          result instanceof Promise ? proms.push(result.then((result2) => {
            result2.issues.length && payload.issues.push(...prefixIssues(key, result2.issues)), payload.value[outKey] = result2.value;
          })) : (result.issues.length && payload.issues.push(...prefixIssues(key, result.issues)), payload.value[outKey] = result.value);
        }
      let unrecognized;
      for (let key in input)
        if (!recordKeys.has(key))
          if (def.mode === "loose") {
            if (key === "__proto__")
              continue;
            payload.value[key] = input[key];
          } else
            unrecognized = unrecognized ?? [], unrecognized.push(key);
      unrecognized && unrecognized.length > 0 && payload.issues.push({
        code: "unrecognized_keys",
        input,
        inst,
        keys: unrecognized,
        continue: !0
      });
    } else {
      payload.value = memo2 ? memo2.alloc(inst, payload, {}, ctx) : {};
      let unrecognized;
      for (let key of Reflect.ownKeys(input)) {
        if (key === "__proto__" || !Object.prototype.propertyIsEnumerable.call(input, key))
          continue;
        let keyResult = def.keyType._zod.run({ value: key, issues: [] }, ctx);
        if (keyResult instanceof Promise)
          throw new Error("Async schemas not supported in object keys currently");
        if (typeof key == "string" && number.test(key) && keyResult.issues.length) {
          let retryResult = def.keyType._zod.run({ value: Number(key), issues: [] }, ctx);
          if (retryResult instanceof Promise)
            throw new Error("Async schemas not supported in object keys currently");
          retryResult.issues.length === 0 && (keyResult = retryResult);
        }
        if (keyResult.issues.length) {
          def.mode === "loose" ? payload.value[key] = input[key] : values2 ? (unrecognized = unrecognized ?? [], unrecognized.push(key)) : payload.issues.push({
            code: "invalid_key",
            origin: "record",
            issues: keyResult.issues.map((iss) => finalizeIssue(iss, ctx, config())),
            input: key,
            path: [key],
            inst
          });
          continue;
        }
        let outKey = keyResult.value;
        if (outKey === "__proto__")
          continue;
        let result = def.valueType._zod.run({ value: input[key], issues: [] }, ctx);
        result instanceof Promise ? proms.push(result.then((result2) => {
          result2.issues.length && payload.issues.push(...prefixIssues(key, result2.issues)), payload.value[outKey] = result2.value;
        })) : (result.issues.length && payload.issues.push(...prefixIssues(key, result.issues)), payload.value[outKey] = result.value);
      }
      unrecognized && unrecognized.length > 0 && payload.issues.push({
        code: "unrecognized_keys",
        input,
        inst,
        keys: unrecognized,
        continue: !0
      });
    }
    return proms.length ? Promise.all(proms).then(() => payload) : payload;
  };
});
var $ZodEnum = /* @__PURE__ */ $constructor("$ZodEnum", (inst, def) => {
  $ZodType.init(inst, def);
  let values2 = getEnumValues(def.entries), valuesSet = new Set(values2);
  inst._zod.values = valuesSet, defineLazyInternal(inst, "pattern", (zod) => {
    let patternValues = getEnumValues(zod.def.entries).filter((k) => propertyKeyTypes.has(typeof k));
    return new RegExp(patternValues.length ? `^(${patternValues.map((o) => escapeRegex(o.toString())).join("|")})$` : "^[^\\s\\S]$");
  }), inst._zod.parse = (payload, _ctx) => {
    let input = payload.value;
    return valuesSet.has(input) || payload.issues.push({
      code: "invalid_value",
      values: values2,
      input,
      inst
    }), payload;
  };
}), $ZodLiteral = /* @__PURE__ */ $constructor("$ZodLiteral", (inst, def) => {
  $ZodType.init(inst, def);
  let values2 = new Set(def.values);
  inst._zod.values = values2, defineLazyInternal(inst, "pattern", (zod) => {
    let vals = zod.def.values;
    return new RegExp(vals.length ? `^(${vals.map((o) => typeof o == "string" ? escapeRegex(o) : o ? escapeRegex(o.toString()) : String(o)).join("|")})$` : "^[^\\s\\S]$");
  }), inst._zod.parse = (payload, _ctx) => {
    let input = payload.value;
    return values2.has(input) || payload.issues.push({
      code: "invalid_value",
      values: def.values,
      input,
      inst
    }), payload;
  };
});
var $ZodTransform = /* @__PURE__ */ $constructor("$ZodTransform", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.optin = "optional", globalConfig.memoizer?.guard(inst), inst._zod.parse = (payload, ctx) => {
    if (ctx.direction === "backward")
      throw new $ZodEncodeError(inst.constructor.name);
    let _out = def.transform(payload.value, payload);
    if (ctx.async)
      return (_out instanceof Promise ? _out : Promise.resolve(_out)).then((output2) => (payload.value = output2, payload));
    if (_out instanceof Promise)
      throw new $ZodAsyncError();
    return payload.value = _out, payload;
  };
});
function handleOptionalResult(payload, result) {
  return payload.value = result.issues.length ? void 0 : result.value, payload;
}
var $ZodOptional = /* @__PURE__ */ $constructor("$ZodOptional", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "optin", (zod) => zod.def.innerType._zod.optin === "defaulted" ? "defaulted" : "optional"), inst._zod.optout = "optional", defineLazyInternal(inst, "values", (zod) => {
    let values2 = zod.def.innerType._zod.values;
    return values2 ? /* @__PURE__ */ new Set([...values2, void 0]) : void 0;
  }), defineLazyInternal(inst, "pattern", (zod) => {
    let pattern = zod.def.innerType._zod.pattern;
    return pattern ? new RegExp(`^(${cleanRegex(pattern.source)})?$`) : void 0;
  }), inst._zod.parse = (payload, ctx) => {
    if (payload.value === void 0) {
      if (def.innerType._zod.optin !== "defaulted")
        return payload;
      let result = def.innerType._zod.run({ value: payload.value, issues: [] }, ctx);
      return result instanceof Promise ? result.then((result2) => handleOptionalResult(payload, result2)) : handleOptionalResult(payload, result);
    }
    return def.innerType._zod.run(payload, ctx);
  };
}), $ZodExactOptional = /* @__PURE__ */ $constructor("$ZodExactOptional", (inst, def) => {
  $ZodOptional.init(inst, def), defineLazyInternal(inst, "values", (zod) => zod.def.innerType._zod.values), defineLazyInternal(inst, "pattern", (zod) => zod.def.innerType._zod.pattern), inst._zod.parse = (payload, ctx) => def.innerType._zod.run(payload, ctx);
}), $ZodNullable = /* @__PURE__ */ $constructor("$ZodNullable", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "optin", (zod) => zod.def.innerType._zod.optin), defineLazyInternal(inst, "optout", (zod) => zod.def.innerType._zod.optout), defineLazyInternal(inst, "pattern", (zod) => {
    let pattern = zod.def.innerType._zod.pattern;
    return pattern ? new RegExp(`^(${cleanRegex(pattern.source)}|null)$`) : void 0;
  }), defineLazyInternal(inst, "values", (zod) => zod.def.innerType._zod.values ? /* @__PURE__ */ new Set([...zod.def.innerType._zod.values, null]) : void 0), inst._zod.parse = (payload, ctx) => payload.value === null ? payload : def.innerType._zod.run(payload, ctx);
}), $ZodDefault = /* @__PURE__ */ $constructor("$ZodDefault", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.optin = "defaulted", defineLazyInternal(inst, "values", (zod) => zod.def.innerType._zod.values), inst._zod.parse = (payload, ctx) => {
    if (ctx.direction === "backward")
      return def.innerType._zod.run(payload, ctx);
    if (payload.value === void 0)
      return payload.value = def.defaultValue, payload;
    let result = def.innerType._zod.run(payload, ctx);
    return result instanceof Promise ? result.then((result2) => handleDefaultResult(result2, def)) : handleDefaultResult(result, def);
  };
});
function handleDefaultResult(payload, def) {
  return payload.value === void 0 && (payload.value = def.defaultValue), payload;
}
var $ZodPrefault = /* @__PURE__ */ $constructor("$ZodPrefault", (inst, def) => {
  $ZodType.init(inst, def), inst._zod.optin = "defaulted", defineLazyInternal(inst, "values", (zod) => zod.def.innerType._zod.values), inst._zod.parse = (payload, ctx) => (ctx.direction === "backward" || payload.value === void 0 && (payload.value = def.defaultValue), def.innerType._zod.run(payload, ctx));
}), $ZodNonOptional = /* @__PURE__ */ $constructor("$ZodNonOptional", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "values", (zod) => {
    let v = zod.def.innerType._zod.values;
    return v ? new Set([...v].filter((x) => x !== void 0)) : void 0;
  }), inst._zod.parse = (payload, ctx) => {
    let result = def.innerType._zod.run(payload, ctx);
    return result instanceof Promise ? result.then((result2) => handleNonOptionalResult(result2, inst)) : handleNonOptionalResult(result, inst);
  };
});
function handleNonOptionalResult(payload, inst) {
  return !payload.issues.length && payload.value === void 0 && payload.issues.push({
    code: "invalid_type",
    expected: "nonoptional",
    input: payload.value,
    inst
  }), payload;
}
function handleCatchResult(payload, result, def, ctx) {
  return result.issues.length ? (payload.value = def.catchValue({
    ...result,
    value: payload.value,
    error: {
      issues: result.issues.map((iss) => finalizeIssue(iss, ctx, config()))
    },
    input: payload.value
  }), payload) : (payload.value = result.value, result.memo && (payload.memo = !0), payload);
}
var $ZodCatch = /* @__PURE__ */ $constructor("$ZodCatch", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "optin", (zod) => zod.def.innerType._zod.optin === "defaulted" ? "defaulted" : "optional"), defineLazyInternal(inst, "optout", (zod) => zod.def.innerType._zod.optout), defineLazyInternal(inst, "values", (zod) => zod.def.innerType._zod.values), inst._zod.parse = (payload, ctx) => {
    if (ctx.direction === "backward")
      return def.innerType._zod.run(payload, ctx);
    let result = def.innerType._zod.run({ value: payload.value, issues: [] }, ctx);
    return result instanceof Promise ? result.then((result2) => handleCatchResult(payload, result2, def, ctx)) : handleCatchResult(payload, result, def, ctx);
  };
});
var $ZodPipe = /* @__PURE__ */ $constructor("$ZodPipe", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "values", (zod) => zod.def.in._zod.values), defineLazyInternal(inst, "optin", (zod) => zod.def.in._zod.optin), defineLazyInternal(inst, "optout", (zod) => zod.def.out._zod.optout), defineLazyInternal(inst, "propValues", (zod) => zod.def.in._zod.propValues), inst._zod.parse = (payload, ctx) => {
    if (ctx.direction === "backward") {
      let right = def.out._zod.run(payload, ctx);
      return right instanceof Promise ? right.then((right2) => handlePipeResult(right2, def.in, ctx)) : handlePipeResult(right, def.in, ctx);
    }
    let left = def.in._zod.run(payload, ctx);
    return left instanceof Promise ? left.then((left2) => handlePipeResult(left2, def.out, ctx)) : handlePipeResult(left, def.out, ctx);
  };
});
function handlePipeResult(left, next, ctx) {
  return left.issues.some((iss) => iss.code !== "unrecognized_keys") ? (left.aborted = !0, left) : next._zod.run({ value: left.value, issues: left.issues }, ctx);
}
var $ZodReadonly = /* @__PURE__ */ $constructor("$ZodReadonly", (inst, def) => {
  $ZodType.init(inst, def), defineLazyInternal(inst, "propValues", (zod) => zod.def.innerType._zod.propValues), defineLazyInternal(inst, "values", (zod) => zod.def.innerType._zod.values), defineLazyInternal(inst, "optin", (zod) => zod.def.innerType?._zod?.optin), defineLazyInternal(inst, "optout", (zod) => zod.def.innerType?._zod?.optout), inst._zod.parse = (payload, ctx) => {
    if (ctx.direction === "backward")
      return def.innerType._zod.run(payload, ctx);
    let result = def.innerType._zod.run(payload, ctx);
    return result instanceof Promise ? result.then(handleReadonlyResult) : handleReadonlyResult(result);
  };
});
function handleReadonlyResult(payload) {
  return payload.memo || (payload.value = Object.freeze(payload.value)), payload;
}
var $ZodCustom = /* @__PURE__ */ $constructor("$ZodCustom", (inst, def) => {
  $ZodCheck.init(inst, def), $ZodType.init(inst, def), inst._zod.parse = (payload, _) => payload, inst._zod.check = (payload) => {
    let input = payload.value, r = def.fn(input);
    if (r instanceof Promise)
      return r.then((r2) => handleRefineResult(r2, payload, input, inst));
    handleRefineResult(r, payload, input, inst);
  };
});
function handleRefineResult(result, payload, input, inst) {
  if (!result) {
    let _iss = {
      code: "custom",
      input,
      inst,
      // incorporates params.error into issue reporting
      path: [...inst._zod.def.path ?? []],
      // incorporates params.error into issue reporting
      continue: !inst._zod.def.abort
      // params: inst._zod.def.params,
    };
    inst._zod.def.params && (_iss.params = inst._zod.def.params), payload.issues.push(issue(_iss));
  }
}

// node_modules/zod/v4/core/memoizer.js
var $ZodCyclicError = class extends Error {
  constructor() {
    super("Cannot parse a reference cycle that closes through a transform"), this.name = "ZodCyclicError";
  }
}, STATE = "~memo", NO_ISSUES = [];
function isRef(value) {
  return value !== null && typeof value == "object";
}
function cloneIssues(issues) {
  return issues.map((iss) => iss.path ? { ...iss, path: iss.path.slice() } : { ...iss });
}
var recursive = /* @__PURE__ */ new WeakMap(), NONE = 0, ASSUMED = 1, PROVEN = 2;
function isRecursive(inst, stack, resolve) {
  let cached2 = recursive.get(inst);
  if (cached2 !== void 0)
    return cached2 ? PROVEN : NONE;
  if (stack.has(inst))
    return PROVEN;
  stack.add(inst);
  let result = NONE, check = (child) => {
    if (result !== PROVEN && child?._zod) {
      let answer = isRecursive(child, stack, resolve);
      answer > result && (result = answer);
    }
  }, shape = (sh, spread) => {
    let answer = NONE;
    for (let key of Reflect.ownKeys(sh)) {
      let desc = Object.getOwnPropertyDescriptor(sh, key);
      if (spread && !desc.enumerable)
        continue;
      let child = desc.get ? ASSUMED : desc.value?._zod ? isRecursive(desc.value, stack, resolve) : NONE;
      child > answer && (answer = child);
    }
    return answer;
  }, merge2 = (answer) => {
    answer > result && (result = answer);
  }, def = inst._zod.def, kind = def.type;
  switch (kind) {
    case "object": {
      let raw = rawShape(def);
      merge2(raw ? shape(raw, !0) : ASSUMED), check(def.catchall);
      break;
    }
    case "array":
      check(def.element);
      break;
    case "tuple":
      for (let el of def.items)
        check(el);
      check(def.rest);
      break;
    case "record":
    case "map":
      check(def.keyType), check(def.valueType);
      break;
    case "set":
      check(def.valueType);
      break;
    case "union":
      for (let el of def.options)
        check(el);
      break;
    case "intersection":
      check(def.left), check(def.right);
      break;
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "catch":
    case "readonly":
    case "nonoptional":
    case "promise":
    case "success":
      check(def.innerType);
      break;
    case "pipe":
      check(def.in), check(def.out);
      break;
    case "function":
      check(def.input), check(def.output);
      break;
    // `$ZodLazy` caches its inner on the def, so a resolved edge is followed exactly
    case "lazy": {
      let inner = def._cachedInner ?? (resolve ? inst._zod.innerType : void 0);
      merge2(inner ? isRecursive(inner, stack, !1) : ASSUMED);
      break;
    }
    // a leaf by choice: `parts` are regex fragments, not data positions
    case "template_literal":
    // leaves
    case "string":
    case "number":
    case "int":
    case "boolean":
    case "bigint":
    case "symbol":
    case "undefined":
    case "null":
    case "void":
    case "never":
    case "any":
    case "unknown":
    case "date":
    case "nan":
    case "enum":
    case "literal":
    case "file":
    case "transform":
    case "custom":
      break;
    default:
      for (let key in def) {
        let desc = Object.getOwnPropertyDescriptor(def, key);
        if (!desc || desc.get)
          continue;
        let value = desc.value;
        if (!(!value || typeof value != "object")) {
          if (value._zod)
            check(value);
          else if (Array.isArray(value))
            for (let el of value)
              check(el);
        }
      }
  }
  return stack.delete(inst), settle(inst, result);
}
function settle(inst, answer) {
  return answer !== ASSUMED && recursive.set(inst, answer === PROVEN), answer;
}
function bucketFor(state, inst) {
  let bucket = state.buckets.get(inst);
  return bucket || (bucket = /* @__PURE__ */ new WeakMap(), state.buckets.set(inst, bucket)), bucket;
}
var handoff, open = [], memo = {
  alloc(_inst, payload, empty) {
    let bucket = handoff;
    if (!bucket)
      return empty;
    handoff = void 0;
    let entry = { value: empty, issues: null };
    return bucket.set(payload.value, entry), open.push(entry), empty;
  },
  guard(inst) {
    var _a3;
    (_a3 = inst._zod).deferred ?? (_a3.deferred = []), inst._zod.deferred.push(() => {
      let base = inst._zod.parse, wrapped = (payload, ctx) => {
        if (ctx.direction !== "backward" && isBackEdge(ctx, payload.value))
          throw new $ZodCyclicError();
        return base(payload, ctx);
      };
      inst._zod.parse = wrapped, inst._zod.run === base && (inst._zod.run = wrapped);
    });
  },
  attach(inst) {
    var _a3;
    let isRecursiveInst, rechecked = !1, lastCtx, lastBucket;
    (_a3 = inst._zod).deferred ?? (_a3.deferred = []), inst._zod.deferred.push(() => {
      let base = inst._zod.parse, wrapped = (payload, ctx) => {
        if (isRecursiveInst === void 0) {
          let walked = isRecursive(inst, /* @__PURE__ */ new Set(), !1);
          if (walked === NONE)
            return inst._zod.parse = base, inst._zod.run === wrapped && (inst._zod.run = base), base(payload, ctx);
          walked === PROVEN || rechecked ? isRecursiveInst = !0 : rechecked = !0;
        }
        let input = payload.value;
        if (!isRef(input))
          return base(payload, ctx);
        let state = ctx[STATE];
        state || (state = { buckets: /* @__PURE__ */ new WeakMap(), backEdges: void 0 }, ctx[STATE] = state);
        let bucket;
        lastCtx === ctx ? bucket = lastBucket : (bucket = bucketFor(state, inst), lastCtx = ctx, lastBucket = bucket);
        let hit = bucket.get(input);
        if (hit)
          return payload.value = hit.value, hit.issues ? hit.issues.length && payload.issues.push(...cloneIssues(hit.issues)) : (payload.memo = !0, state.backEdges ?? (state.backEdges = /* @__PURE__ */ new WeakSet()), state.backEdges.add(hit.value)), payload;
        handoff = bucket;
        let depth = open.length, result = base(payload, ctx);
        handoff = void 0;
        let entry = open.length > depth ? open.pop() : void 0;
        return result instanceof Promise ? result.then((r) => (entry && (entry.issues = r.issues.length ? cloneIssues(r.issues) : NO_ISSUES), r)) : (entry && (entry.issues = result.issues.length ? cloneIssues(result.issues) : NO_ISSUES), result);
      };
      inst._zod.parse = wrapped, inst._zod.run === base && (inst._zod.run = wrapped);
    });
  }
};
function memoizer() {
  return memo;
}
function isBackEdge(ctx, value) {
  let backEdges = ctx[STATE]?.backEdges;
  return backEdges !== void 0 && isRef(value) && backEdges.has(value);
}

// node_modules/zod/v4/locales/en.js
var error = () => {
  let Sizable = {
    string: { unit: "characters", verb: "to have" },
    file: { unit: "bytes", verb: "to have" },
    array: { unit: "items", verb: "to have" },
    set: { unit: "items", verb: "to have" },
    map: { unit: "entries", verb: "to have" }
  };
  function getSizing(origin) {
    return Sizable[origin] ?? null;
  }
  let FormatDictionary = {
    regex: "input",
    email: "email address",
    url: "URL",
    emoji: "emoji",
    uuid: "UUID",
    uuidv4: "UUIDv4",
    uuidv6: "UUIDv6",
    nanoid: "nanoid",
    guid: "GUID",
    cuid: "cuid",
    cuid2: "cuid2",
    ulid: "ULID",
    xid: "XID",
    ksuid: "KSUID",
    datetime: "ISO datetime",
    date: "ISO date",
    time: "ISO time",
    duration: "ISO duration",
    ipv4: "IPv4 address",
    ipv6: "IPv6 address",
    mac: "MAC address",
    cidrv4: "IPv4 range",
    cidrv6: "IPv6 range",
    base64: "base64-encoded string",
    base64url: "base64url-encoded string",
    json_string: "JSON string",
    e164: "E.164 number",
    currency_code: "currency code",
    credit_card: "credit card number",
    iban: "IBAN",
    jwt: "JWT",
    template_literal: "input"
  }, TypeDictionary = {
    // Compatibility: "nan" -> "NaN" for display
    nan: "NaN"
    // All other type names omitted - they fall back to raw values via ?? operator
  };
  function getTypeName(type, input) {
    return type === "number" && typeof input == "number" && !Number.isFinite(input) ? String(input) : TypeDictionary[type] ?? type;
  }
  return (issue2) => {
    switch (issue2.code) {
      case "invalid_type": {
        let expected = getTypeName(issue2.expected), receivedType = parsedType(issue2.input), received = getTypeName(receivedType, issue2.input);
        return `Invalid input: expected ${expected}, received ${received}`;
      }
      case "invalid_value":
        return issue2.values.length === 1 ? `Invalid input: expected ${stringifyPrimitive(issue2.values[0])}` : `Invalid option: expected one of ${joinValues(issue2.values, "|")}`;
      case "too_big": {
        let adj = issue2.exact ? "exactly " : issue2.inclusive ? "<=" : "<", sizing = getSizing(issue2.origin);
        return sizing ? `Too big: expected ${issue2.origin ?? "value"} to have ${adj}${issue2.maximum.toString()} ${sizing.unit ?? "elements"}` : `Too big: expected ${issue2.origin ?? "value"} to be ${adj}${issue2.maximum.toString()}`;
      }
      case "too_small": {
        let adj = issue2.exact ? "exactly " : issue2.inclusive ? ">=" : ">", sizing = getSizing(issue2.origin);
        return sizing ? `Too small: expected ${issue2.origin} to have ${adj}${issue2.minimum.toString()} ${sizing.unit}` : `Too small: expected ${issue2.origin} to be ${adj}${issue2.minimum.toString()}`;
      }
      case "invalid_format": {
        let _issue = issue2;
        return _issue.format === "starts_with" ? `Invalid string: must start with "${_issue.prefix}"` : _issue.format === "ends_with" ? `Invalid string: must end with "${_issue.suffix}"` : _issue.format === "includes" ? `Invalid string: must include "${_issue.includes}"` : _issue.format === "regex" ? `Invalid string: must match pattern ${_issue.pattern}` : `Invalid ${FormatDictionary[_issue.format] ?? issue2.format}`;
      }
      case "not_multiple_of":
        return `Invalid number: must be a multiple of ${issue2.divisor}`;
      case "unrecognized_keys":
        return `Unrecognized key${issue2.keys.length > 1 ? "s" : ""}: ${joinValues(issue2.keys, ", ")}`;
      case "invalid_key":
        return `Invalid key in ${issue2.origin}`;
      case "invalid_union":
        return issue2.options && Array.isArray(issue2.options) && issue2.options.length > 0 ? `Invalid discriminator value. Expected ${issue2.options.map((o) => `'${o}'`).join(" | ")}` : issue2.inclusive === !1 ? "Invalid input: more than one option matched" : "Invalid input";
      case "invalid_element":
        return `Invalid value in ${issue2.origin}`;
      default:
        return "Invalid input";
    }
  };
};
function en_default() {
  return {
    localeError: error()
  };
}

// node_modules/zod/v4/core/registries.js
var _a2;
var $ZodRegistry = class {
  constructor() {
    this._map = /* @__PURE__ */ new WeakMap(), this._idmap = /* @__PURE__ */ new Map();
  }
  add(schema, ..._meta) {
    let meta2 = _meta[0];
    return this._map.set(schema, meta2), meta2 && typeof meta2 == "object" && "id" in meta2 && this._idmap.set(meta2.id, schema), this;
  }
  clear() {
    return this._map = /* @__PURE__ */ new WeakMap(), this._idmap = /* @__PURE__ */ new Map(), this;
  }
  remove(schema) {
    let meta2 = this._map.get(schema);
    return meta2 && typeof meta2 == "object" && "id" in meta2 && this._idmap.delete(meta2.id), this._map.delete(schema), this;
  }
  get(schema) {
    let p = schema._zod.parent;
    if (p) {
      let pm = { ...this.get(p) ?? {} };
      delete pm.id;
      let f = { ...pm, ...this._map.get(schema) };
      return Object.keys(f).length ? f : void 0;
    }
    return this._map.get(schema);
  }
  has(schema) {
    return this._map.has(schema);
  }
};
function registry() {
  return new $ZodRegistry();
}
(_a2 = globalThis).__zod_globalRegistry ?? (_a2.__zod_globalRegistry = registry());
var globalRegistry = globalThis.__zod_globalRegistry;

// node_modules/zod/v4/core/api.js
function snapshotChecks(def) {
  return def.checks && (def.checks = [...def.checks]), def;
}
// @__NO_SIDE_EFFECTS__
function _string(Class2, params) {
  return new Class2(snapshotChecks({ type: "string", ...normalizeParams(params) }));
}
// @__NO_SIDE_EFFECTS__
function _coercedString(Class2, params) {
  return new Class2(snapshotChecks({ type: "string", coerce: !0, ...normalizeParams(params) }));
}
// @__NO_SIDE_EFFECTS__
function _email(Class2, params) {
  return new Class2({
    type: "string",
    format: "email",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _guid(Class2, params) {
  return new Class2({
    type: "string",
    format: "guid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _uuid(Class2, params) {
  return new Class2({
    type: "string",
    format: "uuid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _uuidv4(Class2, params) {
  return new Class2({
    type: "string",
    format: "uuid",
    check: "string_format",
    abort: !1,
    version: "v4",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _uuidv6(Class2, params) {
  return new Class2({
    type: "string",
    format: "uuid",
    check: "string_format",
    abort: !1,
    version: "v6",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _uuidv7(Class2, params) {
  return new Class2({
    type: "string",
    format: "uuid",
    check: "string_format",
    abort: !1,
    version: "v7",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _url(Class2, params) {
  return new Class2({
    type: "string",
    format: "url",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _emoji2(Class2, params) {
  return new Class2({
    type: "string",
    format: "emoji",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _nanoid(Class2, params) {
  return new Class2({
    type: "string",
    format: "nanoid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _cuid(Class2, params) {
  return new Class2({
    type: "string",
    format: "cuid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _cuid2(Class2, params) {
  return new Class2({
    type: "string",
    format: "cuid2",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _ulid(Class2, params) {
  return new Class2({
    type: "string",
    format: "ulid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _xid(Class2, params) {
  return new Class2({
    type: "string",
    format: "xid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _ksuid(Class2, params) {
  return new Class2({
    type: "string",
    format: "ksuid",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _ipv4(Class2, params) {
  return new Class2({
    type: "string",
    format: "ipv4",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _ipv6(Class2, params) {
  return new Class2({
    type: "string",
    format: "ipv6",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _cidrv4(Class2, params) {
  return new Class2({
    type: "string",
    format: "cidrv4",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _cidrv6(Class2, params) {
  return new Class2({
    type: "string",
    format: "cidrv6",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _base64(Class2, params) {
  return new Class2({
    type: "string",
    format: "base64",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _base64url(Class2, params) {
  return new Class2({
    type: "string",
    format: "base64url",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _e164(Class2, params) {
  return new Class2({
    type: "string",
    format: "e164",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _jwt(Class2, params) {
  return new Class2({
    type: "string",
    format: "jwt",
    check: "string_format",
    abort: !1,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _isoDateTime(Class2, params) {
  return new Class2({
    type: "string",
    format: "datetime",
    check: "string_format",
    offset: !1,
    local: !1,
    precision: null,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _isoDate(Class2, params) {
  return new Class2({
    type: "string",
    format: "date",
    check: "string_format",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _isoTime(Class2, params) {
  return new Class2({
    type: "string",
    format: "time",
    check: "string_format",
    precision: null,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _isoDuration(Class2, params) {
  return new Class2({
    type: "string",
    format: "duration",
    check: "string_format",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _number(Class2, params) {
  return new Class2(snapshotChecks({ type: "number", checks: [], ...normalizeParams(params) }));
}
// @__NO_SIDE_EFFECTS__
function _coercedNumber(Class2, params) {
  return new Class2(snapshotChecks({ type: "number", coerce: !0, checks: [], ...normalizeParams(params) }));
}
// @__NO_SIDE_EFFECTS__
function _int(Class2, params) {
  return new Class2({
    type: "number",
    check: "number_format",
    abort: !1,
    format: "safeint",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _boolean(Class2, params) {
  return new Class2({
    type: "boolean",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _coercedBoolean(Class2, params) {
  return new Class2({
    type: "boolean",
    coerce: !0,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _coercedBigint(Class2, params) {
  return new Class2({
    type: "bigint",
    coerce: !0,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _unknown(Class2) {
  return new Class2({
    type: "unknown"
  });
}
// @__NO_SIDE_EFFECTS__
function _never(Class2, params) {
  return new Class2({
    type: "never",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _coercedDate(Class2, params) {
  return new Class2({
    type: "date",
    coerce: !0,
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _lt(value, params) {
  return new $ZodCheckLessThan({
    check: "less_than",
    ...normalizeParams(params),
    value,
    inclusive: !1
  });
}
// @__NO_SIDE_EFFECTS__
function _lte(value, params) {
  return new $ZodCheckLessThan({
    check: "less_than",
    ...normalizeParams(params),
    value,
    inclusive: !0
  });
}
// @__NO_SIDE_EFFECTS__
function _gt(value, params) {
  return new $ZodCheckGreaterThan({
    check: "greater_than",
    ...normalizeParams(params),
    value,
    inclusive: !1
  });
}
// @__NO_SIDE_EFFECTS__
function _gte(value, params) {
  return new $ZodCheckGreaterThan({
    check: "greater_than",
    ...normalizeParams(params),
    value,
    inclusive: !0
  });
}
// @__NO_SIDE_EFFECTS__
function _multipleOf(value, params) {
  return new $ZodCheckMultipleOf({
    check: "multiple_of",
    ...normalizeParams(params),
    value
  });
}
// @__NO_SIDE_EFFECTS__
function _maxLength(maximum, params) {
  return new $ZodCheckMaxLength({
    check: "max_length",
    ...normalizeParams(params),
    maximum
  });
}
// @__NO_SIDE_EFFECTS__
function _minLength(minimum, params) {
  return new $ZodCheckMinLength({
    check: "min_length",
    ...normalizeParams(params),
    minimum
  });
}
// @__NO_SIDE_EFFECTS__
function _length(length, params) {
  return new $ZodCheckLengthEquals({
    check: "length_equals",
    ...normalizeParams(params),
    length
  });
}
// @__NO_SIDE_EFFECTS__
function _regex(pattern, params) {
  return new $ZodCheckRegex({
    check: "string_format",
    format: "regex",
    ...normalizeParams(params),
    pattern
  });
}
// @__NO_SIDE_EFFECTS__
function _lowercase(params) {
  return new $ZodCheckLowerCase({
    check: "string_format",
    format: "lowercase",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _uppercase(params) {
  return new $ZodCheckUpperCase({
    check: "string_format",
    format: "uppercase",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _includes(includes, params) {
  return new $ZodCheckIncludes({
    check: "string_format",
    format: "includes",
    ...normalizeParams(params),
    includes
  });
}
// @__NO_SIDE_EFFECTS__
function _startsWith(prefix, params) {
  return new $ZodCheckStartsWith({
    check: "string_format",
    format: "starts_with",
    ...normalizeParams(params),
    prefix
  });
}
// @__NO_SIDE_EFFECTS__
function _endsWith(suffix, params) {
  return new $ZodCheckEndsWith({
    check: "string_format",
    format: "ends_with",
    ...normalizeParams(params),
    suffix
  });
}
// @__NO_SIDE_EFFECTS__
function _overwrite(tx) {
  return new $ZodCheckOverwrite({
    check: "overwrite",
    tx
  });
}
// @__NO_SIDE_EFFECTS__
function _normalize(form) {
  return /* @__PURE__ */ _overwrite((input) => input.normalize(form));
}
// @__NO_SIDE_EFFECTS__
function _trim() {
  return /* @__PURE__ */ _overwrite((input) => input.trim());
}
// @__NO_SIDE_EFFECTS__
function _toLowerCase() {
  return /* @__PURE__ */ _overwrite((input) => input.toLowerCase());
}
// @__NO_SIDE_EFFECTS__
function _toUpperCase() {
  return /* @__PURE__ */ _overwrite((input) => input.toUpperCase());
}
// @__NO_SIDE_EFFECTS__
function _slugify() {
  return /* @__PURE__ */ _overwrite((input) => slugify(input));
}
// @__NO_SIDE_EFFECTS__
function _array(Class2, element, params) {
  return new Class2({
    type: "array",
    element,
    // get element() {
    //   return element;
    // },
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _custom(Class2, fn, _params) {
  let norm = normalizeParams(_params);
  return norm.abort ?? (norm.abort = !0), new Class2({
    type: "custom",
    check: "custom",
    fn,
    ...norm
  });
}
// @__NO_SIDE_EFFECTS__
function _refine(Class2, fn, _params) {
  return new Class2({
    type: "custom",
    check: "custom",
    fn,
    ...normalizeParams(_params)
  });
}
// @__NO_SIDE_EFFECTS__
function _superRefine(fn, params) {
  let ch = /* @__PURE__ */ _check((payload) => (payload.addIssue = (issue2) => {
    if (typeof issue2 == "string")
      payload.issues.push(issue(issue2, payload.value, ch._zod.def));
    else {
      let _issue = issue2;
      _issue.fatal && (_issue.continue = !1), _issue.code ?? (_issue.code = "custom"), "input" in _issue || (_issue.input = payload.value), _issue.inst ?? (_issue.inst = ch), _issue.continue ?? (_issue.continue = !ch._zod.def.abort), payload.issues.push(issue(_issue));
    }
  }, fn(payload.value, payload)), params);
  return ch;
}
// @__NO_SIDE_EFFECTS__
function _check(fn, params) {
  let ch = new $ZodCheck({
    check: "custom",
    ...normalizeParams(params)
  });
  return ch._zod.check = fn, ch;
}

// node_modules/zod/v4/core/to-json-schema.js
function assignProps(target, ...sources) {
  for (let source of sources)
    for (let key of Reflect.ownKeys(source))
      Object.prototype.propertyIsEnumerable.call(source, key) && assignProp(target, key, source[key]);
  return target;
}
function initializeContext(params) {
  let target = params?.target ?? "draft-2020-12";
  return target === "draft-4" && (target = "draft-04"), target === "draft-7" && (target = "draft-07"), {
    processors: params.processors ?? {},
    metadataRegistry: params?.metadata ?? globalRegistry,
    target,
    unrepresentable: params?.unrepresentable ?? "throw",
    override: params?.override ?? (() => {
    }),
    io: params?.io ?? "output",
    counter: 0,
    seen: /* @__PURE__ */ new Map(),
    sharedDefsExtractedFor: void 0,
    sharedEmitDoneFor: void 0,
    cycles: params?.cycles ?? "ref",
    reused: params?.reused ?? "inline",
    intersections: [],
    deferred: [],
    external: params?.external ?? void 0
  };
}
function handleUnrepresentable(schema, ctx, json, params, message) {
  let result = typeof ctx.unrepresentable == "function" ? ctx.unrepresentable({ zodSchema: schema, path: params.path, message }) : ctx.unrepresentable;
  if (result === "any")
    return !1;
  if (result === void 0 || result === "throw")
    throw new Error(message);
  return Object.assign(json, result), !0;
}
function processSchema(schema, ctx, _params = { path: [], schemaPath: [] }) {
  var _a3;
  let def = schema._zod.def, seen = ctx.seen.get(schema);
  if (seen)
    return seen.count++, _params.schemaPath.includes(schema) && (seen.cycle = _params.path), seen.schema;
  let result = { schema: {}, count: 1, cycle: void 0, path: _params.path };
  ctx.seen.set(schema, result), ctx.sharedDefsExtractedFor = void 0, ctx.sharedEmitDoneFor = void 0;
  let overrideSchema = schema._zod.toJSONSchema?.();
  if (overrideSchema)
    result.schema = overrideSchema;
  else {
    let params = {
      ..._params,
      schemaPath: [..._params.schemaPath, schema],
      path: _params.path
    };
    if (schema._zod.processJSONSchema)
      schema._zod.processJSONSchema(ctx, result.schema, params);
    else {
      let _json = result.schema, processor = ctx.processors[def.type];
      if (!processor)
        throw new Error(`[toJSONSchema]: Non-representable type encountered: ${def.type}`);
      processor(schema, ctx, _json, params);
    }
    let parent = schema._zod.parent;
    parent && (result.ref || (result.ref = parent), processSchema(parent, ctx, params), ctx.seen.get(parent).isParent = !0);
  }
  let meta2 = ctx.metadataRegistry.get(schema);
  return meta2 && assignProps(result.schema, meta2), ctx.io === "input" && isTransforming(schema) && (delete result.schema.examples, delete result.schema.default), ctx.io === "input" && "_prefault" in result.schema && ((_a3 = result.schema).default ?? (_a3.default = result.schema._prefault)), delete result.schema._prefault, ctx.seen.get(schema).schema;
}
function encodeJSONPointerSegment(segment) {
  return segment.replace(/~/g, "~0").replace(/\//g, "~1");
}
function extractDefs(ctx, schema) {
  let root = ctx.seen.get(schema);
  if (!root)
    throw new Error("Unprocessed schema. This is a bug in Zod.");
  if (ctx.external && ctx.sharedDefsExtractedFor === ctx.external)
    return;
  let idToSchema = /* @__PURE__ */ new Map();
  for (let entry of ctx.seen.entries()) {
    let id = ctx.metadataRegistry.get(entry[0])?.id;
    if (id) {
      let existing = idToSchema.get(id);
      if (existing && existing !== entry[0])
        throw new Error(`Duplicate schema id "${id}" detected during JSON Schema conversion. Two different schemas cannot share the same id when converted together.`);
      idToSchema.set(id, entry[0]);
    }
  }
  let makeURI = (entry) => {
    let defsSegment = ctx.target === "draft-2020-12" ? "$defs" : "definitions";
    if (ctx.external) {
      let externalId = ctx.external.registry.get(entry[0])?.id, uriGenerator = ctx.external.uri ?? ((id2) => id2);
      if (externalId)
        return { ref: uriGenerator(externalId) };
      let id = entry[1].defId ?? entry[1].schema.id ?? `schema${ctx.counter++}`;
      return entry[1].defId = id, { defId: id, ref: `${uriGenerator("__shared")}#/${defsSegment}/${encodeJSONPointerSegment(id)}` };
    }
    let uriPrefix = "#", defUriPrefix = `${uriPrefix}/${defsSegment}/`;
    if (entry[1] === root && !entry[1].schema.id)
      return { ref: uriPrefix };
    let defId = entry[1].schema.id ?? `__schema${ctx.counter++}`;
    return { defId, ref: defUriPrefix + encodeJSONPointerSegment(defId) };
  }, extractToDef = (entry) => {
    if (entry[1].schema.$ref)
      return;
    let seen = entry[1], { ref, defId } = makeURI(entry);
    seen.def = { ...seen.schema }, defId && (seen.defId = defId);
    let schema2 = seen.schema;
    for (let key in schema2)
      delete schema2[key];
    schema2.$ref = ref;
  };
  if (ctx.cycles === "throw")
    for (let entry of ctx.seen.entries()) {
      let seen = entry[1];
      if (seen.cycle)
        throw new Error(`Cycle detected: #/${seen.cycle?.join("/")}/<root>

Set the \`cycles\` parameter to \`"ref"\` to resolve cyclical schemas with defs.`);
    }
  for (let entry of ctx.seen.entries()) {
    let seen = entry[1];
    if (schema === entry[0]) {
      extractToDef(entry);
      continue;
    }
    if (ctx.external) {
      let ext = ctx.external.registry.get(entry[0])?.id;
      if (schema !== entry[0] && ext) {
        extractToDef(entry);
        continue;
      }
    }
    if (ctx.metadataRegistry.get(entry[0])?.id) {
      extractToDef(entry);
      continue;
    }
    if (seen.cycle) {
      extractToDef(entry);
      continue;
    }
    seen.count > 1 && ctx.reused === "ref" && extractToDef(entry);
  }
  ctx.external && (ctx.sharedDefsExtractedFor = ctx.external);
}
function compactTypeUnion(schema) {
  let options = schema.anyOf;
  if (!Array.isArray(options) || options.length === 0 || schema.type !== void 0)
    return;
  let types = [];
  for (let option of options) {
    if (!option || typeof option != "object")
      return;
    compactTypeUnion(option);
    let keys = Object.keys(option);
    if (keys.length !== 1 || keys[0] !== "type")
      return;
    let type = option.type;
    for (let member of Array.isArray(type) ? type : [type]) {
      if (typeof member != "string")
        return;
      types.includes(member) || types.push(member);
    }
  }
  delete schema.anyOf, schema.type = types.length === 1 ? types[0] : types;
}
var FOLDABLE_KEYS = /* @__PURE__ */ new Set(["type", "properties", "required", "additionalProperties"]), UNION_KEYS = ["oneOf", "anyOf"];
function undeclaredConstraint(member) {
  let extra = member.additionalProperties;
  return extra === void 0 || extra === !1 || typeof extra != "object" || extra === null ? null : Object.keys(extra).length ? extra : null;
}
function foldObjects(members2) {
  let objects = [];
  for (let member of members2) {
    if (typeof member != "object" || member.type !== "object")
      return null;
    for (let key in member)
      if (!FOLDABLE_KEYS.has(key))
        return null;
    objects.push(member);
  }
  let properties = {}, required2 = /* @__PURE__ */ new Set();
  for (let object2 of objects) {
    for (let key in object2.properties) {
      if (Object.prototype.hasOwnProperty.call(properties, key))
        continue;
      let parts = [];
      for (let other of objects) {
        let part = other.properties?.[key] ?? undeclaredConstraint(other);
        part != null && (parts.some((seen) => JSON.stringify(seen) === JSON.stringify(part)) || parts.push(part));
      }
      let merged = parts.length === 1 ? parts[0] : foldObjects(parts) ?? { allOf: parts };
      assignProp(properties, key, merged);
    }
    for (let key of object2.required ?? [])
      required2.add(key);
  }
  let folded = { type: "object", properties };
  if (required2.size && (folded.required = [...required2]), objects.every((object2) => object2.additionalProperties === !1))
    folded.additionalProperties = !1;
  else {
    let constraints = [];
    for (let object2 of objects) {
      let constraint = undeclaredConstraint(object2);
      constraint && !constraints.some((seen) => JSON.stringify(seen) === JSON.stringify(constraint)) && constraints.push(constraint);
    }
    constraints.length === 1 ? folded.additionalProperties = constraints[0] : constraints.length > 1 && (folded.additionalProperties = { allOf: constraints });
  }
  return folded;
}
function foldIntersection(json) {
  let allOf = json.allOf;
  if (!Array.isArray(allOf) || allOf.length < 2)
    return;
  for (let key of FOLDABLE_KEYS)
    if (key in json)
      return;
  let unions = allOf.filter((m) => UNION_KEYS.some((k) => Array.isArray(m[k]))), folded = null;
  if (!unions.length)
    folded = foldObjects(allOf);
  else {
    let union2 = unions[0], keyword = UNION_KEYS.find((k) => Array.isArray(union2[k]));
    if (Object.keys(union2).length !== 1)
      return;
    let rest = allOf.filter((m) => m !== union2), branches = union2[keyword].map((branch) => foldObjects([...rest, branch]));
    if (branches.some((b) => !b))
      return;
    folded = { [keyword]: branches };
  }
  folded && (delete json.allOf, assignProps(json, folded));
}
function finalize(ctx, schema) {
  let root = ctx.seen.get(schema);
  if (!root)
    throw new Error("Unprocessed schema. This is a bug in Zod.");
  let flattenRef = (zodSchema) => {
    let seen = ctx.seen.get(zodSchema);
    if (seen.ref === null)
      return;
    let schema2 = seen.def ?? seen.schema, _cached = { ...schema2 }, ref = seen.ref;
    if (seen.ref = null, ref) {
      flattenRef(ref);
      let refSeen = ctx.seen.get(ref), refSchema = refSeen.schema;
      if (refSchema.$ref && (ctx.target === "draft-07" || ctx.target === "draft-04" || ctx.target === "openapi-3.0") ? (schema2.allOf = schema2.allOf ?? [], schema2.allOf.push(refSchema)) : assignProps(schema2, refSchema), assignProps(schema2, _cached), zodSchema._zod.parent === ref)
        for (let key in schema2)
          key === "$ref" || key === "allOf" || key in _cached || delete schema2[key];
      if (refSchema.$ref && refSeen.def)
        for (let key in schema2)
          key === "$ref" || key === "allOf" || key in refSeen.def && JSON.stringify(schema2[key]) === JSON.stringify(refSeen.def[key]) && delete schema2[key];
    }
    let parent = zodSchema._zod.parent;
    if (parent && parent !== ref) {
      flattenRef(parent);
      let parentSeen = ctx.seen.get(parent);
      if (parentSeen?.schema.$ref && (schema2.$ref = parentSeen.schema.$ref, parentSeen.def))
        for (let key in schema2)
          key === "$ref" || key === "allOf" || key in parentSeen.def && JSON.stringify(schema2[key]) === JSON.stringify(parentSeen.def[key]) && delete schema2[key];
    }
    ctx.override({
      zodSchema,
      jsonSchema: schema2,
      path: seen.path ?? []
    });
  };
  if (!ctx.external || ctx.sharedEmitDoneFor !== ctx.external) {
    for (let entry of [...ctx.seen.entries()].reverse())
      flattenRef(entry[0]);
    if (ctx.target !== "openapi-3.0")
      for (let entry of ctx.seen.entries())
        compactTypeUnion(entry[1].def ?? entry[1].schema);
    for (let rewrite of ctx.deferred)
      rewrite();
    if (ctx.intersections.length) {
      let carriers = /* @__PURE__ */ new Map();
      for (let seen of ctx.seen.values())
        for (let json of [seen.schema, seen.def]) {
          let allOf = json?.allOf;
          if (!Array.isArray(allOf))
            continue;
          let existing = carriers.get(allOf);
          existing ? existing.push(json) : carriers.set(allOf, [json]);
        }
      for (let allOf of ctx.intersections)
        for (let json of carriers.get(allOf) ?? [])
          foldIntersection(json);
    }
  }
  let result = {};
  if (ctx.target === "draft-2020-12" ? result.$schema = "https://json-schema.org/draft/2020-12/schema" : ctx.target === "draft-07" ? result.$schema = "http://json-schema.org/draft-07/schema#" : ctx.target === "draft-04" ? result.$schema = "http://json-schema.org/draft-04/schema#" : ctx.target, ctx.external?.uri) {
    let id = ctx.external.registry.get(schema)?.id;
    if (!id)
      throw new Error("Schema is missing an `id` property");
    result.$id = ctx.external.uri(id);
  }
  assignProps(result, root.defId ? root.schema : root.def ?? root.schema);
  let rootMetaId = ctx.metadataRegistry.get(schema)?.id;
  rootMetaId !== void 0 && result.id === rootMetaId && delete result.id;
  let defs = ctx.external?.defs ?? {};
  if (!ctx.external || ctx.sharedEmitDoneFor !== ctx.external)
    for (let entry of ctx.seen.entries()) {
      let seen = entry[1];
      seen.def && seen.defId && (seen.def.id === seen.defId && delete seen.def.id, assignProp(defs, seen.defId, seen.def));
    }
  ctx.external && (ctx.sharedEmitDoneFor = ctx.external), ctx.external || Object.keys(defs).length > 0 && (ctx.target === "draft-2020-12" ? result.$defs = defs : result.definitions = defs);
  try {
    let finalized = JSON.parse(JSON.stringify(result));
    return Object.defineProperty(finalized, "~standard", {
      value: {
        ...schema["~standard"],
        jsonSchema: {
          input: createStandardJSONSchemaMethod(schema, "input", ctx.processors),
          output: createStandardJSONSchemaMethod(schema, "output", ctx.processors)
        }
      },
      enumerable: !1,
      writable: !1
    }), finalized;
  } catch {
    throw new Error("Error converting schema to JSON.");
  }
}
function isTransforming(_schema, _ctx) {
  let ctx = _ctx ?? { seen: /* @__PURE__ */ new Set() };
  if (ctx.seen.has(_schema))
    return !1;
  ctx.seen.add(_schema);
  let def = _schema._zod.def;
  if (def.type === "transform")
    return !0;
  if (def.type === "array")
    return isTransforming(def.element, ctx);
  if (def.type === "set")
    return isTransforming(def.valueType, ctx);
  if (def.type === "lazy")
    return isTransforming(def.getter(), ctx);
  if (def.type === "promise" || def.type === "optional" || def.type === "nonoptional" || def.type === "nullable" || def.type === "readonly" || def.type === "default" || def.type === "prefault" || def.type === "catch")
    return isTransforming(def.innerType, ctx);
  if (def.type === "intersection")
    return isTransforming(def.left, ctx) || isTransforming(def.right, ctx);
  if (def.type === "record" || def.type === "map")
    return isTransforming(def.keyType, ctx) || isTransforming(def.valueType, ctx);
  if (def.type === "pipe")
    return _schema._zod.traits.has("$ZodCodec") ? !0 : isTransforming(def.in, ctx) || isTransforming(def.out, ctx);
  if (def.type === "object") {
    for (let key in def.shape)
      if (isTransforming(def.shape[key], ctx))
        return !0;
    return !1;
  }
  if (def.type === "union") {
    for (let option of def.options)
      if (isTransforming(option, ctx))
        return !0;
    return !1;
  }
  if (def.type === "tuple") {
    for (let item of def.items)
      if (isTransforming(item, ctx))
        return !0;
    return !!(def.rest && isTransforming(def.rest, ctx));
  }
  return !1;
}
var createToJSONSchemaMethod = (schema, processors = {}) => (params) => {
  let ctx = initializeContext({ ...params, processors });
  return processSchema(schema, ctx), extractDefs(ctx, schema), finalize(ctx, schema);
}, createStandardJSONSchemaMethod = (schema, io, processors = {}) => (params) => {
  let { libraryOptions, target } = params ?? {}, ctx = initializeContext({ ...libraryOptions ?? {}, target, io, processors });
  return processSchema(schema, ctx), extractDefs(ctx, schema), finalize(ctx, schema);
};

// node_modules/zod/v4/core/json-schema-processors.js
var narrowMin = (agg, key, value) => {
  (agg[key] === void 0 || value > agg[key]) && (agg[key] = value);
}, narrowMax = (agg, key, value) => {
  (agg[key] === void 0 || value < agg[key]) && (agg[key] = value);
}, narrowBoth = (agg, value) => {
  narrowMin(agg, "minimum", value), narrowMax(agg, "maximum", value);
}, addDivisor = (agg, value) => {
  agg.multipleOf ?? (agg.multipleOf = []), agg.multipleOf.includes(value) || agg.multipleOf.push(value);
}, addPattern = (agg, pattern) => {
  agg.patterns ?? (agg.patterns = /* @__PURE__ */ new Set()), agg.patterns.add(pattern);
}, intersectMime = (agg, mime) => {
  agg.mime = agg.mime ? agg.mime.filter((m) => mime.includes(m)) : [...mime];
}, setFormat = (agg, format) => {
  agg.format = format, format.includes("int") && (agg.isInt = !0);
}, minContributor = (agg, def) => narrowMin(agg, "minimum", def.minimum), maxContributor = (agg, def) => narrowMax(agg, "maximum", def.maximum), formatContributor = (ranges) => (agg, def) => {
  setFormat(agg, def.format);
  let [minimum, maximum] = ranges[def.format];
  narrowMin(agg, "minimum", minimum), narrowMax(agg, "maximum", maximum);
}, contributors = {
  greater_than: (agg, def) => narrowMin(agg, def.inclusive ? "minimum" : "exclusiveMinimum", def.value),
  less_than: (agg, def) => narrowMax(agg, def.inclusive ? "maximum" : "exclusiveMaximum", def.value),
  multiple_of: (agg, def) => addDivisor(agg, def.value),
  number_format: formatContributor(NUMBER_FORMAT_RANGES),
  bigint_format: formatContributor(BIGINT_FORMAT_RANGES),
  min_length: minContributor,
  max_length: maxContributor,
  length_equals: (agg, def) => narrowBoth(agg, def.length),
  min_size: minContributor,
  max_size: maxContributor,
  size_equals: (agg, def) => narrowBoth(agg, def.size),
  string_format: (agg, def) => {
    setFormat(agg, def.format), def.pattern && addPattern(agg, def.pattern), (def.format === "base64" || def.format === "base64url") && (agg.contentEncoding = def.format), (def.local || def.precision === -1) && (agg.laxFormat = !0);
  },
  mime_type: (agg, def) => intersectMime(agg, def.mime)
};
function aggregateChecks(schema) {
  let agg = {}, def = schema._zod.def, list2 = schema._zod.traits.has("$ZodCheck") ? [schema, ...def.checks ?? []] : def.checks ?? [];
  for (let ch of list2)
    contributors[ch._zod.def.check]?.(agg, ch._zod.def);
  let bag = schema._zod.bag;
  bag.minimum !== void 0 && narrowMin(agg, "minimum", bag.minimum), bag.exclusiveMinimum !== void 0 && narrowMin(agg, "exclusiveMinimum", bag.exclusiveMinimum), bag.maximum !== void 0 && narrowMax(agg, "maximum", bag.maximum), bag.exclusiveMaximum !== void 0 && narrowMax(agg, "exclusiveMaximum", bag.exclusiveMaximum), bag.multipleOf !== void 0 && addDivisor(agg, bag.multipleOf), bag.format !== void 0 && (agg.format ?? (agg.format = bag.format), bag.format.includes("int") && (agg.isInt = !0)), bag.mime && intersectMime(agg, bag.mime);
  for (let pattern of bag.patterns ?? [])
    addPattern(agg, pattern);
  return agg;
}
var formatMap = {
  guid: "uuid",
  url: "uri",
  datetime: "date-time",
  json_string: "json-string",
  regex: ""
  // do not set
}, exactPatterns = /* @__PURE__ */ new Map([
  [base64Charset, base64],
  [base64urlCharset, base64url]
]), exactPattern = (p) => exactPatterns.get(p) ?? p, stringProcessor = (schema, ctx, _json, _params) => {
  let json = _json;
  json.type = "string";
  let { minimum, maximum, format, patterns, contentEncoding, laxFormat } = aggregateChecks(schema);
  if (typeof minimum == "number" && (json.minLength = minimum), typeof maximum == "number" && (json.maxLength = maximum), format && (json.format = formatMap[format] ?? format, json.format === "" && delete json.format, (format === "time" || laxFormat) && delete json.format), contentEncoding && (json.contentEncoding = contentEncoding), patterns && patterns.size > 0) {
    let patternList = [...patterns].map(exactPattern);
    patternList.length === 1 ? json.pattern = patternList[0].source : patternList.length > 1 && (json.allOf = [
      ...patternList.map((regex) => ({
        ...ctx.target === "draft-07" || ctx.target === "draft-04" || ctx.target === "openapi-3.0" ? { type: "string" } : {},
        pattern: regex.source
      }))
    ]);
  }
}, numberProcessor = (schema, ctx, _json, params) => {
  let json = _json, { minimum, maximum, multipleOf, exclusiveMaximum, exclusiveMinimum, isInt } = aggregateChecks(schema);
  json.type = isInt ? "integer" : "number";
  let exMin = typeof exclusiveMinimum == "number" && exclusiveMinimum >= (minimum ?? Number.NEGATIVE_INFINITY), exMax = typeof exclusiveMaximum == "number" && exclusiveMaximum <= (maximum ?? Number.POSITIVE_INFINITY), legacy = ctx.target === "draft-04" || ctx.target === "openapi-3.0";
  if (exMin ? legacy ? (json.minimum = exclusiveMinimum, json.exclusiveMinimum = !0) : json.exclusiveMinimum = exclusiveMinimum : typeof minimum == "number" && (json.minimum = minimum), exMax ? legacy ? (json.maximum = exclusiveMaximum, json.exclusiveMaximum = !0) : json.exclusiveMaximum = exclusiveMaximum : typeof maximum == "number" && (json.maximum = maximum), multipleOf) {
    let divisors = /* @__PURE__ */ new Set();
    for (let divisor of multipleOf)
      Number.isFinite(divisor) && divisor !== 0 ? divisors.add(Math.abs(divisor)) : handleUnrepresentable(schema, ctx, json, params, `A multipleOf divisor of ${divisor} cannot be represented in JSON Schema`);
    let [first, ...rest] = divisors;
    first !== void 0 && (json.multipleOf = first), rest.length && (json.allOf = [...json.allOf ?? [], ...rest.map((m) => ({ multipleOf: m }))]);
  }
}, booleanProcessor = (_schema, _ctx, json, _params) => {
  json.type = "boolean";
}, bigintProcessor = (schema, ctx, json, params) => {
  handleUnrepresentable(schema, ctx, json, params, "BigInt cannot be represented in JSON Schema");
};
var neverProcessor = (_schema, _ctx, json, _params) => {
  json.not = {};
};
var unknownProcessor = (_schema, _ctx, _json, _params) => {
}, dateProcessor = (schema, ctx, json, params) => {
  handleUnrepresentable(schema, ctx, json, params, "Date cannot be represented in JSON Schema");
}, enumProcessor = (schema, _ctx, json, _params) => {
  let def = schema._zod.def, values2 = getEnumValues(def.entries);
  if (values2.length === 0) {
    json.not = {};
    return;
  }
  values2.every((v) => typeof v == "number") && (json.type = "number"), values2.every((v) => typeof v == "string") && (json.type = "string"), json.enum = values2;
}, literalProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def;
  if (def.values.length === 0) {
    json.not = {};
    return;
  }
  let vals = [];
  for (let val of def.values)
    if (val === void 0) {
      if (handleUnrepresentable(schema, ctx, json, params, "Literal `undefined` cannot be represented in JSON Schema"))
        return;
    } else if (typeof val == "bigint") {
      if (handleUnrepresentable(schema, ctx, json, params, "BigInt literals cannot be represented in JSON Schema"))
        return;
      vals.push(Number(val));
    } else
      vals.push(val);
  if (vals.length !== 0)
    if (vals.length === 1) {
      let val = vals[0];
      json.type = val === null ? "null" : typeof val, ctx.target === "draft-04" || ctx.target === "openapi-3.0" ? json.enum = [val] : json.const = val;
    } else
      vals.every((v) => typeof v == "number") && (json.type = "number"), vals.every((v) => typeof v == "string") && (json.type = "string"), vals.every((v) => typeof v == "boolean") && (json.type = "boolean"), vals.every((v) => v === null) && (json.type = "null"), json.enum = vals;
};
var customProcessor = (schema, ctx, json, params) => {
  handleUnrepresentable(schema, ctx, json, params, "Custom types cannot be represented in JSON Schema");
};
var transformProcessor = (schema, ctx, json, params) => {
  handleUnrepresentable(schema, ctx, json, params, "Transforms cannot be represented in JSON Schema");
};
var arrayProcessor = (schema, ctx, _json, params) => {
  let json = _json, def = schema._zod.def, { minimum, maximum } = aggregateChecks(schema);
  typeof minimum == "number" && (json.minItems = minimum), typeof maximum == "number" && (json.maxItems = maximum), json.type = "array", json.items = processSchema(def.element, ctx, {
    ...params,
    path: [...params.path, "items"]
  });
};
function inputOptin(schema) {
  let def = schema._zod.def;
  return def.type === "pipe" && def.in._zod.traits.has("$ZodTransform") ? inputOptin(def.out) : def.type === "catch" ? inputOptin(def.innerType) : schema._zod.optin;
}
var objectProcessor = (schema, ctx, _json, params) => {
  let json = _json, def = schema._zod.def, shape = def.shape;
  if (Object.getOwnPropertySymbols(shape).length && handleUnrepresentable(schema, ctx, json, params, "Symbol keys cannot be represented in JSON Schema"))
    return;
  json.type = "object", json.properties = {};
  for (let key in shape)
    assignProp(json.properties, key, processSchema(shape[key], ctx, {
      ...params,
      path: [...params.path, "properties", key]
    }));
  let requiredKeys = [];
  for (let key of Object.keys(shape)) {
    let field = def.shape[key];
    (ctx.io === "input" ? inputOptin(field) === void 0 : field._zod.optout === void 0) && requiredKeys.push(key);
  }
  requiredKeys.length > 0 && (json.required = requiredKeys), def.catchall?._zod.def.type === "never" ? json.additionalProperties = !1 : def.catchall ? def.catchall && (json.additionalProperties = processSchema(def.catchall, ctx, {
    ...params,
    path: [...params.path, "additionalProperties"]
  })) : ctx.io === "output" && (json.additionalProperties = !1);
}, unionProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def, isExclusive = def.inclusive === !1, options = def.options.map((x, i) => processSchema(x, ctx, {
    ...params,
    path: [...params.path, isExclusive ? "oneOf" : "anyOf", i]
  }));
  isExclusive ? json.oneOf = options : json.anyOf = options;
}, intersectionProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def, a = processSchema(def.left, ctx, {
    ...params,
    path: [...params.path, "allOf", 0]
  }), b = processSchema(def.right, ctx, {
    ...params,
    path: [...params.path, "allOf", 1]
  }), isSimpleIntersection = (val) => "allOf" in val && Object.keys(val).length === 1, allOf = [
    ...isSimpleIntersection(a) ? a.allOf : [a],
    ...isSimpleIntersection(b) ? b.allOf : [b]
  ];
  json.allOf = allOf, ctx.intersections.push(allOf);
};
function stringifyKeyNames(bySchema, json, visited) {
  if (json.$ref) {
    if (visited.has(json))
      return json;
    visited.add(json);
    let def = bySchema.get(json)?.def;
    if (!def)
      return json;
    let inlined = stringifyKeyNames(bySchema, def, visited);
    return inlined === def ? json : inlined;
  }
  for (let keyword of ["anyOf", "oneOf"]) {
    let branches = json[keyword];
    if (!Array.isArray(branches))
      continue;
    let mapped = branches.map((branch) => stringifyKeyNames(bySchema, branch, visited));
    mapped.some((branch, i) => branch !== branches[i]) && (json = { ...json, [keyword]: mapped });
  }
  let types = Array.isArray(json.type) ? json.type : [json.type], numericType = !types.includes("string") && types.some((t) => t === "number" || t === "integer"), values2 = json.enum ?? (json.const !== void 0 ? [json.const] : void 0);
  if (!numericType && !values2?.some((v) => typeof v == "number"))
    return json;
  let { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format, id, ...rest } = json;
  return rest.enum ? rest.enum = rest.enum.map((v) => typeof v == "number" ? String(v) : v) : typeof rest.const == "number" && (rest.const = String(rest.const)), numericType && (rest.type = "string", values2 || (rest.pattern = (types.includes("number") ? number : integer).source)), rest;
}
var pendingRecords = /* @__PURE__ */ new WeakMap();
function rewriteKeyNames(ctx) {
  let bySchema = /* @__PURE__ */ new Map();
  for (let entry of ctx.seen.values())
    entry.def && !bySchema.has(entry.schema) && bySchema.set(entry.schema, entry);
  let rewrites = /* @__PURE__ */ new Map();
  for (let record2 of pendingRecords.get(ctx) ?? []) {
    let seen = ctx.seen.get(record2), names = (seen?.def ?? seen?.schema)?.propertyNames;
    if (!names || names === !0 || rewrites.has(names))
      continue;
    let rewritten = stringifyKeyNames(bySchema, names, /* @__PURE__ */ new Set());
    rewritten !== names && rewrites.set(names, rewritten);
  }
  if (rewrites.size)
    for (let entry of ctx.seen.values())
      for (let carrier of [entry.schema, entry.def]) {
        let rewritten = carrier && rewrites.get(carrier.propertyNames);
        rewritten && (carrier.propertyNames = rewritten);
      }
}
var recordProcessor = (schema, ctx, _json, params) => {
  let json = _json, def = schema._zod.def;
  json.type = "object";
  let keyType = def.keyType, patterns = aggregateChecks(keyType).patterns;
  if (def.mode === "loose" && patterns && patterns.size > 0) {
    let valueSchema = processSchema(def.valueType, ctx, {
      ...params,
      path: [...params.path, "patternProperties", "*"]
    });
    json.patternProperties = {};
    for (let pattern of patterns)
      assignProp(json.patternProperties, exactPattern(pattern).source, valueSchema);
  } else {
    if (ctx.target === "draft-07" || ctx.target === "draft-2020-12") {
      json.propertyNames = processSchema(def.keyType, ctx, {
        ...params,
        path: [...params.path, "propertyNames"]
      });
      let pending = pendingRecords.get(ctx);
      pending || (pending = [], pendingRecords.set(ctx, pending), ctx.deferred.push(() => rewriteKeyNames(ctx))), pending.push(schema);
    }
    json.additionalProperties = processSchema(def.valueType, ctx, {
      ...params,
      path: [...params.path, "additionalProperties"]
    });
  }
  let keyValues = keyType._zod.values, omittableOnInput = ctx.io === "input" && inputOptin(def.valueType) !== void 0;
  if (keyValues && !def.partial && !omittableOnInput) {
    let validKeyValues = [...keyValues].filter((v) => typeof v == "string" || typeof v == "number");
    validKeyValues.length > 0 && (json.required = validKeyValues.map(String));
  }
}, nullableProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def, inner = processSchema(def.innerType, ctx, params), seen = ctx.seen.get(schema);
  ctx.target === "openapi-3.0" ? (seen.ref = def.innerType, json.nullable = !0) : json.anyOf = [inner, { type: "null" }];
}, nonoptionalProcessor = (schema, ctx, _json, params) => {
  let def = schema._zod.def;
  processSchema(def.innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  seen.ref = def.innerType;
}, UNREPRESENTABLE_DEFAULT = /* @__PURE__ */ Symbol();
function serializeDefaultValue(value, schema, ctx, json, params) {
  let unrepresentable = !1, serialized = JSON.stringify(value, (_, val) => typeof val != "bigint" ? val : (unrepresentable = !0, null));
  return unrepresentable ? (handleUnrepresentable(schema, ctx, json, params, "BigInt defaults cannot be represented in JSON Schema"), UNREPRESENTABLE_DEFAULT) : JSON.parse(serialized);
}
var defaultProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def;
  processSchema(def.innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  seen.ref = def.innerType;
  let value = serializeDefaultValue(def.defaultValue, schema, ctx, json, params);
  value !== UNREPRESENTABLE_DEFAULT && (json.default = value);
}, prefaultProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def;
  processSchema(def.innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  if (seen.ref = def.innerType, ctx.io !== "input")
    return;
  let value = serializeDefaultValue(def.defaultValue, schema, ctx, json, params);
  value !== UNREPRESENTABLE_DEFAULT && (json._prefault = value);
}, catchProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def;
  processSchema(def.innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  seen.ref = def.innerType;
  let catchValue;
  try {
    catchValue = def.catchValue(void 0);
  } catch {
    handleUnrepresentable(schema, ctx, json, params, "Dynamic catch values are not supported in JSON Schema");
    return;
  }
  json.default = catchValue;
}, pipeProcessor = (schema, ctx, _json, params) => {
  let def = schema._zod.def, inIsTransform = def.in._zod.traits.has("$ZodTransform"), innerType = ctx.io === "input" ? inIsTransform ? def.out : def.in : def.out;
  processSchema(innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  seen.ref = innerType;
}, readonlyProcessor = (schema, ctx, json, params) => {
  let def = schema._zod.def;
  processSchema(def.innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  seen.ref = def.innerType, json.readOnly = !0;
};
var optionalProcessor = (schema, ctx, _json, params) => {
  let def = schema._zod.def;
  processSchema(def.innerType, ctx, params);
  let seen = ctx.seen.get(schema);
  seen.ref = def.innerType;
};

// node_modules/zod/v4/classic/errors.js
var _installedErrorProtos = /* @__PURE__ */ new WeakSet([Object.prototype, Error.prototype]);
function _lazyMethod(proto, key, make) {
  Object.defineProperty(proto, key, {
    configurable: !0,
    enumerable: !1,
    get() {
      let value = make(this);
      return Object.defineProperty(this, key, { value, configurable: !0, writable: !0 }), value;
    },
    set(value) {
      Object.defineProperty(this, key, { value, configurable: !0, writable: !0 });
    }
  });
}
var initializer2 = (inst, issues) => {
  $ZodError.init(inst, issues), inst.name = "ZodError";
  let proto = Object.getPrototypeOf(inst);
  _installedErrorProtos.has(proto) || (_installedErrorProtos.add(proto), _lazyMethod(proto, "format", (self) => (mapper) => formatError(self, mapper)), _lazyMethod(proto, "flatten", (self) => (mapper) => flattenError(self, mapper)), _lazyMethod(proto, "addIssue", (self) => (issue2) => {
    self.issues.push(issue2), self.message = JSON.stringify(self.issues, jsonStringifyReplacer, 2);
  }), _lazyMethod(proto, "addIssues", (self) => (issues2) => {
    self.issues.push(...issues2), self.message = JSON.stringify(self.issues, jsonStringifyReplacer, 2);
  }), Object.defineProperty(proto, "isEmpty", {
    configurable: !0,
    enumerable: !1,
    get() {
      return this.issues.length === 0;
    }
  }));
};
var ZodRealError = /* @__PURE__ */ $constructor("ZodError", initializer2, void 0, {
  Parent: Error
});

// node_modules/zod/v4/classic/parse.js
var parse = /* @__PURE__ */ _parse(ZodRealError), parseAsync = /* @__PURE__ */ _parseAsync(ZodRealError), safeParse = /* @__PURE__ */ _safeParse(ZodRealError), safeParseAsync = /* @__PURE__ */ _safeParseAsync(ZodRealError), encode = /* @__PURE__ */ _encode(ZodRealError), decode = /* @__PURE__ */ _decode(ZodRealError), encodeAsync = /* @__PURE__ */ _encodeAsync(ZodRealError), decodeAsync = /* @__PURE__ */ _decodeAsync(ZodRealError), safeEncode = /* @__PURE__ */ _safeEncode(ZodRealError), safeDecode = /* @__PURE__ */ _safeDecode(ZodRealError), safeEncodeAsync = /* @__PURE__ */ _safeEncodeAsync(ZodRealError), safeDecodeAsync = /* @__PURE__ */ _safeDecodeAsync(ZodRealError);

// node_modules/zod/v4/classic/schemas.js
function _ensureDefaultLocale() {
  globalConfig.localeError || config(en_default());
}
function _ensureDefaultMemoizer() {
  globalConfig.memoizer || config({ memoizer: memoizer() });
}
var ZodType = /* @__PURE__ */ $constructor("ZodType", (inst, def) => (_ensureDefaultLocale(), $ZodType.init(inst, def), inst.def = def, inst.type = def.type, inst), {
  check(...chks) {
    let def = this.def;
    return this.clone(util_exports.mergeDefs(def, {
      checks: [
        ...def.checks ?? [],
        ...chks.map((ch) => typeof ch == "function" ? { _zod: { check: ch, def: { check: "custom" }, onattach: [] } } : ch)
      ]
    }), { parent: !0 });
  },
  with(...chks) {
    return this.check(...chks);
  },
  clone(def, params) {
    return clone(this, def, params);
  },
  brand() {
    return this;
  },
  register(reg, meta2) {
    return reg.add(this, meta2), this;
  },
  refine(check, params) {
    return this.check(refine(check, params));
  },
  superRefine(refinement, params) {
    return this.check(superRefine(refinement, params));
  },
  overwrite(fn) {
    return this.check(_overwrite(fn));
  },
  optional() {
    return optional(this);
  },
  exactOptional() {
    return exactOptional(this);
  },
  nullable() {
    return nullable(this);
  },
  nullish() {
    return optional(nullable(this));
  },
  nonoptional(params) {
    return nonoptional(this, params);
  },
  array() {
    return array(this);
  },
  or(arg) {
    return union([this, arg]);
  },
  and(arg) {
    return intersection(this, arg);
  },
  transform(tx) {
    return pipe(this, transform(tx));
  },
  default(d) {
    return _default(this, d);
  },
  prefault(d) {
    return prefault(this, d);
  },
  catch(params) {
    return _catch(this, params);
  },
  pipe(target) {
    return pipe(this, target);
  },
  readonly() {
    return readonly(this);
  },
  describe(description) {
    let cl = this.clone();
    return globalRegistry.add(cl, { description }), cl;
  },
  meta(...args) {
    if (args.length === 0)
      return globalRegistry.get(this);
    let cl = this.clone();
    return globalRegistry.add(cl, args[0]), cl;
  },
  isOptional() {
    return this.safeParse(void 0).success;
  },
  isNullable() {
    return this.safeParse(null).success;
  },
  apply(fn, ...args) {
    return args.length === 0 ? fn(this) : fn(this, ...args);
  },
  // Overrides core's `~standard` to add `jsonSchema`. Must stay a prototype entry: redefining it per instance demotes instances to dictionary mode.
  get "~standard"() {
    return util_exports.hide(this, "~standard", {
      ...standardProps(this),
      jsonSchema: {
        input: createStandardJSONSchemaMethod(this, "input"),
        output: createStandardJSONSchemaMethod(this, "output")
      }
    });
  },
  set "~standard"(value) {
    util_exports.own(this, "~standard", value);
  },
  parse: function _parse2(data, params) {
    return parse(this, data, params, { callee: _parse2 });
  },
  parseAsync: async function _parseAsync2(data, params) {
    return await parseAsync(this, data, params, { callee: _parseAsync2 });
  },
  safeParse(data, params) {
    return safeParse(this, data, params);
  },
  async safeParseAsync(data, params) {
    return safeParseAsync(this, data, params);
  },
  // `spa` is an alias: same function object as `safeParseAsync`, as before.
  get spa() {
    return this?.safeParseAsync;
  },
  set spa(value) {
    util_exports.own(this, "spa", value);
  },
  validate(data, params) {
    return validate(this, data, params);
  },
  validateAsync(data, params) {
    return validateAsync(this, data, params);
  },
  encode: function _encode2(data, params) {
    return encode(this, data, params, { callee: _encode2 });
  },
  decode: function _decode2(data, params) {
    return decode(this, data, params, { callee: _decode2 });
  },
  encodeAsync: async function _encodeAsync2(data, params) {
    return await encodeAsync(this, data, params, { callee: _encodeAsync2 });
  },
  decodeAsync: async function _decodeAsync2(data, params) {
    return await decodeAsync(this, data, params, { callee: _decodeAsync2 });
  },
  safeEncode(data, params) {
    return safeEncode(this, data, params);
  },
  safeDecode(data, params) {
    return safeDecode(this, data, params);
  },
  async safeEncodeAsync(data, params) {
    return safeEncodeAsync(this, data, params);
  },
  async safeDecodeAsync(data, params) {
    return safeDecodeAsync(this, data, params);
  },
  toJSONSchema(params) {
    return createToJSONSchemaMethod(this, {})(params);
  },
  // Reads through to the registry on every access, so it must not cache.
  get description() {
    return globalRegistry.get(this)?.description;
  },
  // No setter: `schema._def = x` throws, as it did when `_def` was a non-writable own property.
  get _def() {
    return this._zod.def;
  }
}), _ZodString = /* @__PURE__ */ $constructor(
  "_ZodString",
  (inst, def) => {
    $ZodString.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => stringProcessor(inst, ctx, json, params);
  },
  /* @__PURE__ */ util_exports.derived({
    format: (inst) => aggregateChecks(inst).format ?? null,
    minLength: (inst) => aggregateChecks(inst).minimum ?? null,
    maxLength: (inst) => aggregateChecks(inst).maximum ?? null
  }, {
    regex(...args) {
      return this.check(_regex(...args));
    },
    includes(...args) {
      return this.check(_includes(...args));
    },
    startsWith(...args) {
      return this.check(_startsWith(...args));
    },
    endsWith(...args) {
      return this.check(_endsWith(...args));
    },
    min(...args) {
      return this.check(_minLength(...args));
    },
    max(...args) {
      return this.check(_maxLength(...args));
    },
    length(...args) {
      return this.check(_length(...args));
    },
    nonempty(...args) {
      return this.check(_minLength(1, ...args));
    },
    lowercase(params) {
      return this.check(_lowercase(params));
    },
    uppercase(params) {
      return this.check(_uppercase(params));
    },
    trim() {
      return this.check(_trim());
    },
    normalize(...args) {
      return this.check(_normalize(...args));
    },
    toLowerCase() {
      return this.check(_toLowerCase());
    },
    toUpperCase() {
      return this.check(_toUpperCase());
    },
    slugify() {
      return this.check(_slugify());
    }
  })
), ZodString = /* @__PURE__ */ $constructor("ZodString", (inst, def) => {
  $ZodString.init(inst, def), _ZodString.init(inst, def);
}, {
  email(params) {
    return this.check(_email(ZodEmail, params));
  },
  url(params) {
    return this.check(_url(ZodURL, params));
  },
  jwt(params) {
    return this.check(_jwt(ZodJWT, params));
  },
  emoji(params) {
    return this.check(_emoji2(ZodEmoji, params));
  },
  guid(params) {
    return this.check(_guid(ZodGUID, params));
  },
  uuid(params) {
    return this.check(_uuid(ZodUUID, params));
  },
  uuidv4(params) {
    return this.check(_uuidv4(ZodUUID, params));
  },
  uuidv6(params) {
    return this.check(_uuidv6(ZodUUID, params));
  },
  uuidv7(params) {
    return this.check(_uuidv7(ZodUUID, params));
  },
  nanoid(params) {
    return this.check(_nanoid(ZodNanoID, params));
  },
  cuid(params) {
    return this.check(_cuid(ZodCUID, params));
  },
  cuid2(params) {
    return this.check(_cuid2(ZodCUID2, params));
  },
  ulid(params) {
    return this.check(_ulid(ZodULID, params));
  },
  base64(params) {
    return this.check(_base64(ZodBase64, params));
  },
  base64url(params) {
    return this.check(_base64url(ZodBase64URL, params));
  },
  xid(params) {
    return this.check(_xid(ZodXID, params));
  },
  ksuid(params) {
    return this.check(_ksuid(ZodKSUID, params));
  },
  ipv4(params) {
    return this.check(_ipv4(ZodIPv4, params));
  },
  ipv6(params) {
    return this.check(_ipv6(ZodIPv6, params));
  },
  cidrv4(params) {
    return this.check(_cidrv4(ZodCIDRv4, params));
  },
  cidrv6(params) {
    return this.check(_cidrv6(ZodCIDRv6, params));
  },
  e164(params) {
    return this.check(_e164(ZodE164, params));
  },
  datetime(params) {
    return this.check(_isoDateTime(ZodISODateTime, params));
  },
  date(params) {
    return this.check(_isoDate(ZodISODate, params));
  },
  time(params) {
    return this.check(_isoTime(ZodISOTime, params));
  },
  duration(params) {
    return this.check(_isoDuration(ZodISODuration, params));
  }
});
function string2(params) {
  return _string(ZodString, params);
}
var ZodStringFormat = /* @__PURE__ */ $constructor("ZodStringFormat", (inst, def) => {
  $ZodStringFormat.init(inst, def), _ZodString.init(inst, def);
}), ZodISODateTime = /* @__PURE__ */ $constructor("ZodISODateTime", (inst, def) => {
  $ZodISODateTime.init(inst, def), ZodStringFormat.init(inst, def);
}), ZodISODate = /* @__PURE__ */ $constructor("ZodISODate", (inst, def) => {
  $ZodISODate.init(inst, def), ZodStringFormat.init(inst, def);
}), ZodISOTime = /* @__PURE__ */ $constructor("ZodISOTime", (inst, def) => {
  $ZodISOTime.init(inst, def), ZodStringFormat.init(inst, def);
}), ZodISODuration = /* @__PURE__ */ $constructor("ZodISODuration", (inst, def) => {
  $ZodISODuration.init(inst, def), ZodStringFormat.init(inst, def);
}), ZodEmail = /* @__PURE__ */ $constructor("ZodEmail", (inst, def) => {
  $ZodEmail.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodGUID = /* @__PURE__ */ $constructor("ZodGUID", (inst, def) => {
  $ZodGUID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodUUID = /* @__PURE__ */ $constructor("ZodUUID", (inst, def) => {
  $ZodUUID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodURL = /* @__PURE__ */ $constructor("ZodURL", (inst, def) => {
  $ZodURL.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodEmoji = /* @__PURE__ */ $constructor("ZodEmoji", (inst, def) => {
  $ZodEmoji.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodNanoID = /* @__PURE__ */ $constructor("ZodNanoID", (inst, def) => {
  $ZodNanoID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodCUID = /* @__PURE__ */ $constructor("ZodCUID", (inst, def) => {
  $ZodCUID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodCUID2 = /* @__PURE__ */ $constructor("ZodCUID2", (inst, def) => {
  $ZodCUID2.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodULID = /* @__PURE__ */ $constructor("ZodULID", (inst, def) => {
  $ZodULID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodXID = /* @__PURE__ */ $constructor("ZodXID", (inst, def) => {
  $ZodXID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodKSUID = /* @__PURE__ */ $constructor("ZodKSUID", (inst, def) => {
  $ZodKSUID.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodIPv4 = /* @__PURE__ */ $constructor("ZodIPv4", (inst, def) => {
  $ZodIPv4.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodIPv6 = /* @__PURE__ */ $constructor("ZodIPv6", (inst, def) => {
  $ZodIPv6.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodCIDRv4 = /* @__PURE__ */ $constructor("ZodCIDRv4", (inst, def) => {
  $ZodCIDRv4.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodCIDRv6 = /* @__PURE__ */ $constructor("ZodCIDRv6", (inst, def) => {
  $ZodCIDRv6.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodBase64 = /* @__PURE__ */ $constructor("ZodBase64", (inst, def) => {
  $ZodBase64.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodBase64URL = /* @__PURE__ */ $constructor("ZodBase64URL", (inst, def) => {
  $ZodBase64URL.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodE164 = /* @__PURE__ */ $constructor("ZodE164", (inst, def) => {
  $ZodE164.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodJWT = /* @__PURE__ */ $constructor("ZodJWT", (inst, def) => {
  $ZodJWT.init(inst, def), ZodStringFormat.init(inst, def);
});
var ZodNumber = /* @__PURE__ */ $constructor(
  "ZodNumber",
  (inst, def) => {
    $ZodNumber.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => numberProcessor(inst, ctx, json, params), inst.isFinite = !0;
  },
  /* @__PURE__ */ util_exports.derived({
    minValue: (inst) => {
      let { minimum, exclusiveMinimum } = aggregateChecks(inst);
      return Math.max(minimum ?? Number.NEGATIVE_INFINITY, exclusiveMinimum ?? Number.NEGATIVE_INFINITY);
    },
    maxValue: (inst) => {
      let { maximum, exclusiveMaximum } = aggregateChecks(inst);
      return Math.min(maximum ?? Number.POSITIVE_INFINITY, exclusiveMaximum ?? Number.POSITIVE_INFINITY);
    },
    isInt: (inst) => {
      let { isInt, multipleOf } = aggregateChecks(inst);
      return !!isInt || !!multipleOf?.some(Number.isSafeInteger);
    },
    format: (inst) => aggregateChecks(inst).format ?? null
  }, {
    gt(value, params) {
      return this.check(_gt(value, params));
    },
    gte(value, params) {
      return this.check(_gte(value, params));
    },
    min(value, params) {
      return this.check(_gte(value, params));
    },
    lt(value, params) {
      return this.check(_lt(value, params));
    },
    lte(value, params) {
      return this.check(_lte(value, params));
    },
    max(value, params) {
      return this.check(_lte(value, params));
    },
    int(params) {
      return this.check(int(params));
    },
    safe(params) {
      return this.check(int(params));
    },
    positive(params) {
      return this.check(_gt(0, params));
    },
    nonnegative(params) {
      return this.check(_gte(0, params));
    },
    negative(params) {
      return this.check(_lt(0, params));
    },
    nonpositive(params) {
      return this.check(_lte(0, params));
    },
    multipleOf(value, params) {
      return this.check(_multipleOf(value, params));
    },
    step(value, params) {
      return this.check(_multipleOf(value, params));
    },
    finite() {
      return this;
    }
  })
);
function number2(params) {
  return _number(ZodNumber, params);
}
var ZodNumberFormat = /* @__PURE__ */ $constructor("ZodNumberFormat", (inst, def) => {
  $ZodNumberFormat.init(inst, def), ZodNumber.init(inst, def);
});
function int(params) {
  return _int(ZodNumberFormat, params);
}
var ZodBoolean = /* @__PURE__ */ $constructor("ZodBoolean", (inst, def) => {
  $ZodBoolean.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => booleanProcessor(inst, ctx, json, params);
});
function boolean2(params) {
  return _boolean(ZodBoolean, params);
}
var ZodBigInt = /* @__PURE__ */ $constructor(
  "ZodBigInt",
  (inst, def) => {
    $ZodBigInt.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => bigintProcessor(inst, ctx, json, params);
  },
  /* @__PURE__ */ util_exports.derived({
    minValue: (inst) => aggregateChecks(inst).minimum ?? null,
    maxValue: (inst) => aggregateChecks(inst).maximum ?? null,
    format: (inst) => aggregateChecks(inst).format ?? null
  }, {
    gte(value, params) {
      return this.check(_gte(value, params));
    },
    min(value, params) {
      return this.check(_gte(value, params));
    },
    gt(value, params) {
      return this.check(_gt(value, params));
    },
    lt(value, params) {
      return this.check(_lt(value, params));
    },
    lte(value, params) {
      return this.check(_lte(value, params));
    },
    max(value, params) {
      return this.check(_lte(value, params));
    },
    positive(params) {
      return this.check(_gt(BigInt(0), params));
    },
    negative(params) {
      return this.check(_lt(BigInt(0), params));
    },
    nonpositive(params) {
      return this.check(_lte(BigInt(0), params));
    },
    nonnegative(params) {
      return this.check(_gte(BigInt(0), params));
    },
    multipleOf(value, params) {
      return this.check(_multipleOf(value, params));
    }
  })
);
var ZodUnknown = /* @__PURE__ */ $constructor("ZodUnknown", (inst, def) => {
  $ZodUnknown.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => unknownProcessor(inst, ctx, json, params);
});
function unknown() {
  return _unknown(ZodUnknown);
}
var ZodNever = /* @__PURE__ */ $constructor("ZodNever", (inst, def) => {
  $ZodNever.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => neverProcessor(inst, ctx, json, params);
});
function never(params) {
  return _never(ZodNever, params);
}
var ZodDate = /* @__PURE__ */ $constructor(
  "ZodDate",
  (inst, def) => {
    $ZodDate.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => dateProcessor(inst, ctx, json, params), inst.min = (value, params) => inst.check(_gte(value, params)), inst.max = (value, params) => inst.check(_lte(value, params));
  },
  /* @__PURE__ */ util_exports.derived({
    minDate: (inst) => {
      let { minimum } = aggregateChecks(inst);
      return minimum ? new Date(minimum) : null;
    },
    maxDate: (inst) => {
      let { maximum } = aggregateChecks(inst);
      return maximum ? new Date(maximum) : null;
    }
  }, {})
);
var ZodArray = /* @__PURE__ */ $constructor("ZodArray", (inst, def) => {
  _ensureDefaultMemoizer(), $ZodArray.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => arrayProcessor(inst, ctx, json, params), inst.element = def.element;
}, {
  min(n, params) {
    return this.check(_minLength(n, params));
  },
  nonempty(params) {
    return this.check(_minLength(1, params));
  },
  max(n, params) {
    return this.check(_maxLength(n, params));
  },
  length(n, params) {
    return this.check(_length(n, params));
  },
  unwrap() {
    return this.element;
  }
});
function array(element, params) {
  return _array(ZodArray, element, params);
}
var ZodObject = /* @__PURE__ */ $constructor("ZodObject", (inst, def) => {
  _ensureDefaultMemoizer(), $ZodObjectJIT.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => objectProcessor(inst, ctx, json, params), util_exports.installLazyProp(inst, "shape", (self) => self._zod.def.shape, !1);
}, {
  keyof() {
    return _enum(Object.keys(this._zod.def.shape));
  },
  catchall(catchall) {
    return this.clone(util_exports.mergeDefs(this._zod.def, { catchall }));
  },
  passthrough() {
    return this.clone(util_exports.mergeDefs(this._zod.def, { catchall: unknown() }));
  },
  loose() {
    return this.clone(util_exports.mergeDefs(this._zod.def, { catchall: unknown() }));
  },
  strict() {
    return this.clone(util_exports.mergeDefs(this._zod.def, { catchall: never() }));
  },
  strip() {
    return this.clone(util_exports.mergeDefs(this._zod.def, { catchall: void 0 }));
  },
  extend(incoming) {
    return util_exports.extend(this, incoming);
  },
  safeExtend(incoming) {
    return util_exports.safeExtend(this, incoming);
  },
  merge(other) {
    return util_exports.merge(this, other);
  },
  pick(mask) {
    return util_exports.pick(this, mask);
  },
  omit(mask) {
    return util_exports.omit(this, mask);
  },
  partial(...args) {
    return util_exports.partial(ZodOptional, this, args[0]);
  },
  exactPartial(...args) {
    return util_exports.partial(ZodExactOptional, this, args[0], "exactPartial");
  },
  required(...args) {
    return util_exports.required(ZodNonOptional, this, args[0]);
  }
});
function object(shape, params) {
  let def = {
    type: "object",
    shape: shape ?? {},
    ...util_exports.normalizeParams(params)
  };
  return new ZodObject(def);
}
var ZodUnion = /* @__PURE__ */ $constructor("ZodUnion", (inst, def) => {
  $ZodUnion.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => unionProcessor(inst, ctx, json, params), inst.options = def.options;
});
function union(options, params) {
  return new ZodUnion({
    type: "union",
    options,
    ...util_exports.normalizeParams(params)
  });
}
var ZodDiscriminatedUnion = /* @__PURE__ */ $constructor("ZodDiscriminatedUnion", (inst, def) => {
  ZodUnion.init(inst, def), $ZodDiscriminatedUnion.init(inst, def);
});
function discriminatedUnion(discriminator, options, params) {
  return new ZodDiscriminatedUnion({
    type: "union",
    options,
    discriminator,
    ...util_exports.normalizeParams(params)
  });
}
var ZodIntersection = /* @__PURE__ */ $constructor("ZodIntersection", (inst, def) => {
  $ZodIntersection.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => intersectionProcessor(inst, ctx, json, params);
});
function intersection(left, right) {
  return new ZodIntersection({
    type: "intersection",
    left,
    right
  });
}
var ZodRecord = /* @__PURE__ */ $constructor("ZodRecord", (inst, def) => {
  _ensureDefaultMemoizer(), $ZodRecord.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => recordProcessor(inst, ctx, json, params), inst.keyType = def.keyType, inst.valueType = def.valueType;
});
function record(keyType, valueType, params) {
  return !valueType || !valueType._zod ? new ZodRecord({
    type: "record",
    keyType: string2(),
    valueType: keyType,
    ...util_exports.normalizeParams(valueType)
  }) : new ZodRecord({
    type: "record",
    keyType,
    valueType,
    ...util_exports.normalizeParams(params)
  });
}
var ZodEnum = /* @__PURE__ */ $constructor("ZodEnum", (inst, def) => {
  $ZodEnum.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => enumProcessor(inst, ctx, json, params), inst.enum = def.entries, inst.options = [...inst._zod.values];
  let keys = new Set(Object.keys(def.entries));
  inst.extract = (values2, params) => {
    let newEntries = {};
    for (let value of values2)
      if (keys.has(value))
        newEntries[value] = def.entries[value];
      else
        throw new Error(`Key ${value} not found in enum`);
    return new ZodEnum({
      ...def,
      checks: [],
      ...util_exports.normalizeParams(params),
      entries: newEntries
    });
  }, inst.exclude = (values2, params) => {
    let newEntries = { ...def.entries };
    for (let value of values2)
      if (keys.has(value))
        delete newEntries[value];
      else
        throw new Error(`Key ${value} not found in enum`);
    return new ZodEnum({
      ...def,
      checks: [],
      ...util_exports.normalizeParams(params),
      entries: newEntries
    });
  };
});
function _enum(values2, params) {
  let entries = Array.isArray(values2) ? Object.fromEntries(values2.map((v) => [v, v])) : values2;
  return new ZodEnum({
    type: "enum",
    entries,
    ...util_exports.normalizeParams(params)
  });
}
var ZodLiteral = /* @__PURE__ */ $constructor("ZodLiteral", (inst, def) => {
  $ZodLiteral.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => literalProcessor(inst, ctx, json, params), inst.values = new Set(def.values), Object.defineProperty(inst, "value", {
    get() {
      if (def.values.length > 1)
        throw new Error("This schema contains multiple valid literal values. Use `.values` instead.");
      return def.values[0];
    }
  });
});
function literal(value, params) {
  return new ZodLiteral({
    type: "literal",
    values: Array.isArray(value) ? value : [value],
    ...util_exports.normalizeParams(params)
  });
}
var ZodTransform = /* @__PURE__ */ $constructor("ZodTransform", (inst, def) => {
  _ensureDefaultMemoizer(), $ZodTransform.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => transformProcessor(inst, ctx, json, params), inst._zod.parse = (payload, _ctx) => {
    if (_ctx.direction === "backward")
      throw new $ZodEncodeError(inst.constructor.name);
    payload.addIssue = (issue2) => {
      if (typeof issue2 == "string")
        payload.issues.push(util_exports.issue(issue2, payload.value, def));
      else {
        let _issue = issue2;
        _issue.fatal && (_issue.continue = !1), _issue.code ?? (_issue.code = "custom"), "input" in _issue || (_issue.input = payload.value), _issue.inst ?? (_issue.inst = inst), payload.issues.push(util_exports.issue(_issue));
      }
    };
    let output = def.transform(payload.value, payload);
    return output instanceof Promise ? output.then((output2) => (payload.value = output2, payload)) : (payload.value = output, payload);
  };
});
function transform(fn) {
  return new ZodTransform({
    type: "transform",
    transform: fn
  });
}
var ZodOptional = /* @__PURE__ */ $constructor("ZodOptional", (inst, def) => {
  $ZodOptional.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => optionalProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType;
});
function optional(innerType) {
  return new ZodOptional({
    type: "optional",
    innerType
  });
}
var ZodExactOptional = /* @__PURE__ */ $constructor("ZodExactOptional", (inst, def) => {
  $ZodExactOptional.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => optionalProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType;
});
function exactOptional(innerType) {
  return new ZodExactOptional({
    type: "optional",
    innerType
  });
}
var ZodNullable = /* @__PURE__ */ $constructor("ZodNullable", (inst, def) => {
  $ZodNullable.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => nullableProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType;
});
function nullable(innerType) {
  return new ZodNullable({
    type: "nullable",
    innerType
  });
}
var ZodDefault = /* @__PURE__ */ $constructor("ZodDefault", (inst, def) => {
  $ZodDefault.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => defaultProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType, inst.removeDefault = inst.unwrap;
});
function _default(innerType, defaultValue) {
  return new ZodDefault({
    type: "default",
    innerType,
    get defaultValue() {
      return typeof defaultValue == "function" ? defaultValue() : util_exports.shallowClone(defaultValue);
    }
  });
}
var ZodPrefault = /* @__PURE__ */ $constructor("ZodPrefault", (inst, def) => {
  $ZodPrefault.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => prefaultProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType;
});
function prefault(innerType, defaultValue) {
  return new ZodPrefault({
    type: "prefault",
    innerType,
    get defaultValue() {
      return typeof defaultValue == "function" ? defaultValue() : util_exports.shallowClone(defaultValue);
    }
  });
}
var ZodNonOptional = /* @__PURE__ */ $constructor("ZodNonOptional", (inst, def) => {
  $ZodNonOptional.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => nonoptionalProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType;
});
function nonoptional(innerType, params) {
  return new ZodNonOptional({
    type: "nonoptional",
    innerType,
    ...util_exports.normalizeParams(params)
  });
}
var ZodCatch = /* @__PURE__ */ $constructor("ZodCatch", (inst, def) => {
  $ZodCatch.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => catchProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType, inst.removeCatch = inst.unwrap;
});
function _catch(innerType, catchValue) {
  return new ZodCatch({
    type: "catch",
    innerType,
    catchValue: typeof catchValue == "function" ? catchValue : util_exports.constantCatch(catchValue)
  });
}
var ZodPipe = /* @__PURE__ */ $constructor("ZodPipe", (inst, def) => {
  $ZodPipe.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => pipeProcessor(inst, ctx, json, params), inst.in = def.in, inst.out = def.out;
});
function pipe(in_, out) {
  return new ZodPipe({
    type: "pipe",
    in: in_,
    out
    // ...util.normalizeParams(params),
  });
}
var ZodReadonly = /* @__PURE__ */ $constructor("ZodReadonly", (inst, def) => {
  $ZodReadonly.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => readonlyProcessor(inst, ctx, json, params), inst.unwrap = () => inst._zod.def.innerType;
});
function readonly(innerType) {
  return new ZodReadonly({
    type: "readonly",
    innerType
  });
}
var ZodCustom = /* @__PURE__ */ $constructor("ZodCustom", (inst, def) => {
  $ZodCustom.init(inst, def), ZodType.init(inst, def), inst._zod.processJSONSchema = (ctx, json, params) => customProcessor(inst, ctx, json, params);
});
function custom(fn, _params) {
  return _custom(ZodCustom, fn ?? (() => !0), _params);
}
function refine(fn, _params = {}) {
  return _refine(ZodCustom, fn, _params);
}
function superRefine(fn, params) {
  return _superRefine(fn, params);
}

// node_modules/zod/v4/classic/iso.js
var iso_exports = {};
__export(iso_exports, {
  ZodISODate: () => ZodISODate,
  ZodISODateTime: () => ZodISODateTime,
  ZodISODuration: () => ZodISODuration,
  ZodISOTime: () => ZodISOTime,
  date: () => date2,
  datetime: () => datetime2,
  duration: () => duration2,
  time: () => time2
});
function datetime2(params) {
  return _isoDateTime(ZodISODateTime, params);
}
function date2(params) {
  return _isoDate(ZodISODate, params);
}
function time2(params) {
  return _isoTime(ZodISOTime, params);
}
function duration2(params) {
  return _isoDuration(ZodISODuration, params);
}

// node_modules/zod/v4/classic/coerce.js
var coerce_exports = {};
__export(coerce_exports, {
  bigint: () => bigint2,
  boolean: () => boolean3,
  date: () => date3,
  number: () => number3,
  string: () => string3
});
function string3(params) {
  return _coercedString(ZodString, params);
}
function number3(params) {
  return _coercedNumber(ZodNumber, params);
}
function boolean3(params) {
  return _coercedBoolean(ZodBoolean, params);
}
function bigint2(params) {
  return _coercedBigint(ZodBigInt, params);
}
function date3(params) {
  return _coercedDate(ZodDate, params);
}

// packages/protocol/src/id.ts
var prefixes = {
  project: "prj",
  session: "ses",
  input: "inp",
  activity: "act",
  turn: "trn",
  part: "prt",
  call: "cal",
  environment: "env",
  token: "tok",
  shell: "shl",
  command: "cmd",
  terminal: "trm",
  snapshot: "snp",
  artifact: "art"
};
function idSchema(kind) {
  let shape = new RegExp(`^${prefixes[kind]}_[0-9a-z]{1,40}$`);
  return custom((value) => typeof value == "string" && shape.test(value), {
    error: `expected an id like ${prefixes[kind]}_01k\u2026`
  }).meta({ type: "string", pattern: shape.source });
}
var projectId = idSchema("project"), sessionId = idSchema("session"), inputId = idSchema("input"), activityId = idSchema("activity"), turnId = idSchema("turn"), partId = idSchema("part"), callId = idSchema("call"), environmentId = idSchema("environment"), tokenId = idSchema("token"), shellId = idSchema("shell"), commandId = idSchema("command"), terminalId = idSchema("terminal"), snapshotId = idSchema("snapshot"), artifactId = idSchema("artifact");

// packages/protocol/src/artifact.ts
var artifactKind = _enum(["stdout", "stderr", "scrollback"]), leftOut = object({
  bytes: int().positive(),
  because: _enum(["session quota", "quota", "disk"])
}), artifactAnnounced = object({
  id: artifactId,
  name: string2(),
  kind: artifactKind,
  /** The file, for whoever is on the machine; the same for as long as there is one. */
  url: string2(),
  /** The call that it comes of. */
  callId: callId.optional()
}), artifactKept = object({
  id: artifactId,
  /** SHA-256. */
  digest: string2(),
  bytes: int().nonnegative(),
  leftOut: leftOut.optional()
}), artifactExpired = object({ id: artifactId, because: _enum(["age"]) }), artifactView = object({
  id: artifactId,
  /** Whose work it comes from. */
  owner: union([sessionId, shellId]),
  name: string2(),
  kind: artifactKind,
  state: _enum(["growing", "kept", "expired"]),
  url: string2(),
  callId: callId.optional(),
  /** As it is now, when it grows. */
  bytes: int().nonnegative(),
  leftOut: leftOut.optional(),
  digest: string2().optional(),
  approximateCreationTime: string2()
}), artifactList = object({ artifacts: array(artifactView) }), artifactNamed = object({
  id: artifactId,
  url: string2(),
  bytes: int().nonnegative(),
  leftOut: leftOut.optional()
});

// packages/protocol/src/network.ts
var hostPattern = string2().max(300).regex(
  /^(?:\*\.(?=[^:]*\.))?(?=[^:]*\.)(?![^:]*\.[0-9][^.:]*(?::|$))(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::[1-9][0-9]{0,4})?$/,
  "expected a host name like example.org or *.example.org, with :PORT if need be"
), networkVerdict = _enum(["allowed", "refused"]), networkReason = _enum(["listed", "unlisted", "port", "name", "address", "unresolved", "request"]), networkContact = object({
  /** As asked for, in small letters; `*`: hosts beyond those that are told apart. */
  host: string2(),
  port: int().nonnegative(),
  verdict: networkVerdict,
  reason: networkReason,
  connections: int().nonnegative(),
  /** To the host. */
  bytesOut: int().nonnegative(),
  bytesIn: int().nonnegative(),
  /** Where the name led to, the last time. */
  address: string2().optional(),
  /** Other names that were used in TLS on a way asked for by this one. */
  serverNames: array(string2()).optional()
}), networkView = object({
  contacts: array(networkContact.extend({ session: sessionId, approximateLastTime: string2() })),
  seq: int().nonnegative()
});

// packages/protocol/src/environment.ts
var environmentKind = _enum(["jail", "container", "local"]), network = _enum(["off", "allow", "open"]), access = _enum(["read", "write"]), imageName = string2().max(512).regex(/^[a-z0-9][a-z0-9._:@/-]*$/i, "expected the name of an image"), containerVolumes = record(
  string2().regex(/^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._-]+)+$/, "expected an absolute path"),
  string2().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, "expected the name of a volume")
), environmentAsked = object({
  kind: environmentKind.default("jail"),
  /** Without: allow for sessions, off for shells; `local` cannot keep anything from the network: open. */
  network: network.optional(),
  /** Without: write. */
  access: access.optional(),
  /** Hosts that it may reach besides those that the settings list, where the network is `allow`. */
  allow: array(hostPattern).max(100).optional(),
  /** For a container. Without: the one in the settings. */
  image: imageName.optional()
}), environmentWish = object({
  kind: environmentKind.default("jail"),
  network: network.default("allow"),
  /** Without: write. */
  access: access.optional(),
  /** Hosts that it may reach besides those that the settings list, where the network is `allow`. */
  allow: array(hostPattern).max(100).optional(),
  /** Of a container: the name of an image, or the absolute path of a folder that one is built from. */
  image: string2().optional(),
  volumes: containerVolumes.optional()
}), processIdentity = object({
  pid: int(),
  /** Start time in clock ticks since boot, from /proc/PID/stat. */
  startTime: string2(),
  bootId: string2()
}), environmentState = object({
  version: literal(2),
  id: environmentId,
  kind: environmentKind,
  network,
  access,
  workspace: string2(),
  supervisor: processIdentity,
  /** The cgroups that hold its processes, one for each hierarchy; none where there are no cgroups to be had. */
  cgroups: array(string2()),
  /** Of a container: what the engine, by its socket, knows it as, and what it is made of. */
  container: object({ id: string2(), engine: string2(), image: string2(), volumes: containerVolumes }).optional()
}), environmentLimits = object({
  /** Processes and threads at once. */
  pids: int().positive(),
  memoryBytes: int().positive(),
  /** How many processors' worth of time. */
  cpus: number2().positive(),
  /** What it may add to the disk: workspace and spool together. */
  diskBytes: int().positive(),
  /** What one command may write to its output before it is ended. */
  outputBytes: int().positive()
}), limitHit = _enum(["time", "memory", "pids", "disk", "output"]), commandResult = object({
  exitCode: int(),
  stdout: string2(),
  stderr: string2(),
  stdoutBytes: int(),
  stderrBytes: int(),
  timedOut: boolean2(),
  /** The limit that it ran into, if any: the one that ended it, or kept it from getting something. */
  limit: limitHit.optional(),
  /** The shell died with or during the command and a new one took its place: cwd and variables are lost. */
  shellRespawned: boolean2(),
  /** The whole of an output that was cut. */
  artifacts: object({ stdout: artifactNamed.optional(), stderr: artifactNamed.optional() }).optional()
});

// packages/protocol/src/shell.ts
var shellWorkspace = _enum(["copy", "in-place", "scratch"]), openShellWish = object({
  /** Needed by all but `scratch`. */
  projectId: projectId.optional(),
  /** The folder of the project to work on; without: the project's own. */
  worktree: string2().max(4096).optional(),
  environment: environmentAsked.prefault({}),
  /** Without: `copy` of the project, or `scratch` when none is named. */
  workspace: shellWorkspace.optional()
}), shellView = object({
  id: shellId,
  projectId: projectId.optional(),
  environment: environmentWish,
  workspace: shellWorkspace,
  /** Host path of its files. */
  path: string2(),
  /** Who opened it. */
  actor: string2(),
  /** `resting`: nothing of it runs; the next command starts it afresh, on the same files. */
  state: _enum(["open", "resting", "closed"]),
  /** The seq of the event this view is true for. */
  seq: int()
}), shellList = object({ shells: array(shellView) }), longestCommandMs = 24 * 36e5, startCommand = object({
  /** From whoever asks: sent again, it is the same command and runs once. */
  id: commandId,
  text: string2().min(1).max(2e5),
  /** When it is ended, with all that it started. */
  timeoutMs: int().min(1).max(longestCommandMs).default(36e5)
}), commandFacts = object({
  exitCode: int(),
  timedOut: boolean2(),
  limit: limitHit.optional(),
  shellRespawned: boolean2(),
  stdoutBytes: int(),
  stderrBytes: int()
}), commandView = discriminatedUnion("state", [
  object({ id: commandId, shell: shellId, state: literal("running") }),
  object({ id: commandId, shell: shellId, state: literal("ended"), result: commandResult }),
  /** Its output is no longer kept. */
  object({ id: commandId, shell: shellId, state: literal("past"), facts: commandFacts }),
  object({ id: commandId, shell: shellId, state: literal("unknown"), reason: string2() })
]), commandNews = discriminatedUnion("kind", [
  object({ kind: literal("output"), stream: _enum(["stdout", "stderr"]), text: string2() }),
  object({ kind: literal("command"), command: commandView })
]), shellInterruptAnswer = object({ kind: _enum(["interrupted", "nothing-running"]) }), closedShell = object({ id: shellId, kept: string2().optional() }), shellFacts = object({
  projectId: projectId.optional(),
  environment: environmentWish,
  workspace: shellWorkspace,
  path: string2(),
  /** Host folders the workspace reads from, visible in the environment at the same place. */
  readable: array(string2()),
  variables: record(string2(), string2()),
  /** The commit that a copy starts from. */
  base: string2().optional()
}), startedCommand = object({
  id: commandId,
  text: string2(),
  timeoutMs: int(),
  environment: environmentId
});

// packages/protocol/src/audit.ts
var chainHead = string2().regex(/^\d{1,15}:[\w-]{43}$/, "expected a head as `corral audit head` prints it"), chainBreak = object({
  kind: _enum(["changed", "link-changed", "missing", "inserted", "erased", "begin"]),
  from: int(),
  to: int(),
  /** Of what is still there. */
  stream: string2().optional(),
  type: string2().optional()
}), keptHead = object({
  head: chainHead,
  found: _enum(["on-chain", "other-link", "ahead", "passed-over", "older"])
}), chainReport = object({
  verdict: _enum(["intact", "broken"]),
  /** Null while nothing is linked. */
  head: chainHead.nullable(),
  /** How many places were gone over. */
  events: int(),
  /** Events up to this seq are older than the chain and not covered by it; 0: none. */
  olderUpTo: int(),
  /** Events whose facts were erased, and those removed for their age; their hashes are still there. */
  erased: int(),
  trimmed: int(),
  /** The newest of those removed for their age; 0: none. */
  trimmedUpTo: int(),
  /** Seqs that were passed over, where a backup was restored or a damaged database made room. */
  gaps: array(object({ from: int(), to: int() })),
  /** The first of them. */
  breaks: array(chainBreak),
  breakCount: int(),
  kept: keptHead.optional()
}), headView = object({ head: chainHead }), auditDiff = discriminatedUnion("kind", [
  object({
    kind: literal("snapshot"),
    snapshot: snapshotId,
    /** Null: it is the first. */
    previous: snapshotId.nullable(),
    tree: string2(),
    files: int(),
    insertions: int(),
    deletions: int(),
    /** Others that ended before the same snapshot: the figures are for all of them together. */
    sharedWith: array(union([callId, commandId])),
    /** One of the two can no longer be had. */
    expired: boolean2()
  }),
  /**
   * `never-ran`: it did not begin. `running`: it has not ended. `read-only`: nothing could be written. `scratch`: there is no
   * repository. `not-named`: later snapshots were taken, not for it: it only read. `not-yet`: none was taken since.
   */
  object({
    kind: literal("none"),
    why: _enum(["never-ran", "running", "read-only", "scratch", "not-named", "not-yet"])
  })
]), auditWhere = object({
  session: sessionId.optional(),
  shell: shellId.optional(),
  project: projectId.optional(),
  environment: environmentKind.optional(),
  network: network.optional(),
  workspace: shellWorkspace.optional(),
  /** Host path of its files. */
  path: string2().optional()
}), auditEntry = object({
  id: union([callId, commandId]),
  kind: _enum(["call", "command"]),
  /** Of the event that it was asked for with, and of the newest that tells of it. */
  seq: int(),
  lastSeq: int(),
  /** Who ran it: an agent, or a person. */
  actor: string2(),
  /** Whose words the agent acted on, the newest last. */
  onWordOf: array(string2()),
  activity: activityId.optional(),
  where: auditWhere,
  tool: string2(),
  /** As it was run; for tools other than the shell their arguments. */
  command: string2(),
  /** In lists: the command is longer than what is told of it. */
  isCut: literal(!0).optional(),
  askedAt: string2(),
  startedAt: string2().optional(),
  endedAt: string2().optional(),
  attempts: int(),
  outcome: _enum(["waiting", "running", "ended", "failed", "interrupted", "unknown"]),
  /** Why it failed, or why nobody can tell. */
  reason: string2().optional(),
  exitCode: int().optional(),
  timedOut: boolean2().optional(),
  limit: limitHit.optional(),
  /** Measured where that is recorded, else from its start to its end by the clock. */
  durationMs: number2().optional(),
  interruptedBy: string2().optional(),
  /** Its end was found out later: the daemon was away. */
  recovered: boolean2().optional(),
  diff: auditDiff
}), auditQuery = object({
  session: sessionId.optional(),
  project: projectId.optional(),
  /** Only what was asked for behind this seq. Without: the newest. */
  after: coerce_exports.number().pipe(int().nonnegative()).optional(),
  /** Only what was asked for since then, by the clocks of that time. */
  since: iso_exports.datetime().optional(),
  failed: _enum(["0", "1"]).default("0").describe("1: only what went wrong"),
  limit: coerce_exports.number().pipe(int().min(1).max(500)).default(100)
}), auditPage = object({
  entries: array(auditEntry),
  next: int().nullable(),
  hasEarlier: boolean2(),
  head: chainHead
});

// packages/protocol/src/backup.ts
var backupView = object({
  /** Where it is, on the daemon's machine. */
  path: string2(),
  bytes: int().nonnegative(),
  events: int().nonnegative(),
  /** The seq of the newest event in it. */
  seq: int().nonnegative()
});

// packages/protocol/src/workspace.ts
var workspaceKind = _enum(["copy", "in-place"]), workspaceBase = _enum(["head", "dirty"]), skippedFile = object({ path: string2(), why: string2() }), broughtBack = object({
  branch: string2(),
  commit: string2(),
  /** Where the branch was, when it was brought before. */
  before: string2().optional(),
  commits: int(),
  files: int(),
  insertions: int(),
  deletions: int(),
  /** Something had been left uncommitted and was committed by Corral. */
  leftovers: boolean2(),
  skipped: array(skippedFile),
  /** A person changed the files, with `corral edit`. */
  edited: literal(!0).optional()
}), mergeHow = _enum(["fast-forward", "merge", "squash"]), workspaceMerge = object({
  branch: string2(),
  commit: string2(),
  /** The user's folder, and where it was and is to be. */
  worktree: string2(),
  from: string2(),
  to: string2(),
  how: mergeHow
}), discarded = object({
  folder: string2(),
  branch: string2().optional(),
  commit: string2().optional()
}), changedFile = object({
  path: string2(),
  /** Null for what is no text. */
  insertions: int().nullable(),
  deletions: int().nullable()
}), workspaceDiff = object({
  /** The folder itself, for whoever may open it. */
  path: string2(),
  base: string2(),
  /** Without: nothing was brought yet. */
  branch: string2().optional(),
  commit: string2().optional(),
  files: array(changedFile),
  /** The difference as git prints it; cut when it is very long. */
  patch: string2(),
  truncated: boolean2()
}), mergeWorkspace = object({
  /** Without: the branch is moved to when that is possible, else a commit with two parents is made. */
  how: _enum(["squash", "no-ff"]).optional()
}), mergeAnswer = discriminatedUnion("kind", [
  object({ kind: literal("merged"), ...workspaceMerge.shape }),
  /** The user's branch holds all of it already. */
  object({ kind: literal("nothing-to-merge") })
]), discardWorkspace = object({ undo: boolean2().optional() }), discardAnswer = object({
  kind: _enum(["discarded", "restored"]),
  branch: string2().optional(),
  commit: string2().optional()
}), bringBackAnswer = discriminatedUnion("kind", [
  object({ kind: literal("brought"), ...broughtBack.shape }),
  object({ kind: literal("nothing-new") })
]), bringBackWorkspace = object({ edited: boolean2().optional() }), decideSetup = object({ decision: _enum(["cancel", "again", "skip"]) }), setupAnswer = object({ kind: _enum(["requested", "nothing-to-decide"]) });

// packages/protocol/src/session.ts
var mode = _enum(["auto"]), modelName = string2().regex(/^[^/]+\/.+$/, "expected provider/model"), turnLimit = int().min(1).max(1e3), createSession = object({
  projectId,
  /** The folder of the project to start from; without: the project's own. */
  worktree: string2().max(4096).optional(),
  /** Without: what the project's settings say. */
  model: modelName.optional(),
  mode: mode.default("auto"),
  environment: environmentAsked.prefault({}),
  workspace: workspaceKind.default("copy"),
  /** What a copy begins with: also the files of a snapshot of the same project. Without: HEAD. */
  base: union([workspaceBase, object({ snapshot: snapshotId })]).optional(),
  /** Turns an activity may take before it waits for a word from a person. Without: what the project's settings say. */
  turnLimit: turnLimit.optional()
}), sessionState = discriminatedUnion("state", [
  object({ state: literal("idle") }),
  object({ state: literal("thinking"), activityId }),
  object({ state: literal("waiting"), activityId, on: _enum(["recovery", "continue"]) }),
  object({ state: literal("failed"), activityId, message: string2() })
]), sessionView = object({
  id: sessionId,
  projectId,
  title: string2(),
  model: string2(),
  mode,
  environment: environmentWish,
  workspace: workspaceKind,
  state: sessionState,
  /** The seq of the event this view is true for. */
  seq: int()
}), decideRecovery = object({ call: callId, decision: _enum(["retry", "abandon"]) }), sessionList = object({ sessions: array(sessionView) }), deleteAnswer = object({ kind: literal("deleted") }), interruptAnswer = object({ kind: _enum(["requested", "nothing-running"]) }), recoveryAnswer = object({ kind: literal("decided") });

// packages/protocol/src/config.ts
var settings = {
  model: setting(modelName, "The model that new sessions ask, as provider/model.", {
    default: "anthropic/claude-sonnet-4-5",
    scope: "project",
    takesEffect: "next-session",
    variable: "CORRAL_MODEL"
  }),
  turnLimit: setting(turnLimit, "Turns that an activity may take before it waits for a word from a person.", {
    default: 25,
    scope: "project",
    takesEffect: "next-session"
  }),
  "workspace.spare": setting(
    boolean2(),
    "Whether a copy of a repository in use is kept ready in the background, so that a session need not wait for one.",
    { default: !0, scope: "machine", takesEffect: "now" }
  ),
  "workspace.copy": setting(
    array(string2().min(1).max(1e3)).max(100),
    "Files that git does not know and the work needs, as patterns; each new copy gets them.",
    { default: [], scope: "project", takesEffect: "next-session" }
  ),
  "workspace.setup": setting(
    string2().max(1e4),
    "A command that is run in the jail, in each new copy, before any work; empty: none.",
    { default: "", scope: "project", takesEffect: "next-session" }
  ),
  "workspace.setupFailure": setting(
    _enum(["stop", "go-on"]),
    "Whether the work stops when the set-up command fails, or goes on and the agent is told.",
    { default: "stop", scope: "project", takesEffect: "next-session" }
  ),
  "workspace.idleDays": setting(
    int().min(1).max(3650).nullable(),
    "Days of rest after which a workspace's folder is removed; its branch stays, and work begins from there; null: never.",
    { default: 30, scope: "machine", takesEffect: "now" }
  ),
  "workspace.discardedDays": setting(
    int().min(1).max(3650),
    "Days that a discarded workspace is kept, so that it can be brought back.",
    { default: 14, scope: "machine", takesEffect: "now" }
  ),
  "snapshots.days": setting(
    int().min(1).max(3650).nullable(),
    "Days that snapshots of a workspace are kept; the last one of a session stays; null: always.",
    { default: 30, scope: "machine", takesEffect: "now" }
  ),
  "snapshots.most": setting(int().min(1).max(1e5), "How many snapshots a session has at most; older ones go.", {
    default: 200,
    scope: "machine",
    takesEffect: "now"
  }),
  "snapshots.largestMb": setting(
    int().min(1).max(2048),
    "The largest file that a snapshot keeps, in MiB; larger ones are left out and named.",
    { default: 100, scope: "machine", takesEffect: "now" }
  ),
  "snapshots.ignored": setting(
    array(
      string2().min(1).max(1e3).regex(/^[^!\n\0]+$/, "expected a pattern as in .gitignore, without !")
    ).max(100),
    "Files that git ignores and snapshots keep all the same, as patterns like those of .gitignore.",
    { default: [], scope: "project", takesEffect: "now" }
  ),
  "gateway.host": setting(string2().min(1).max(255), "The address that the daemon listens at.", {
    default: "127.0.0.1",
    scope: "machine",
    takesEffect: "restart"
  }),
  "gateway.port": setting(int().min(0).max(65535), "The port that the daemon listens at; 0: any free one.", {
    default: 0,
    scope: "machine",
    takesEffect: "restart"
  }),
  "gateway.allowedHosts": setting(
    array(string2().regex(/^[a-z0-9.:[\]-]{1,255}$/i, "expected a host name, with a port if need be")).max(100),
    "Names besides the machine's own that requests may call the daemon by (their Host header).",
    { default: [], scope: "machine", takesEffect: "restart" }
  ),
  "network.allow": setting(
    array(hostPattern).max(500),
    "Hosts that agents may reach, as in example.org, *.example.org or example.org:8443; each file adds to the others.",
    { default: [], scope: "project", takesEffect: "now", addsUp: !0 }
  ),
  runners: setting(int().min(1).max(64), "How many runner processes share the sessions.", {
    default: 2,
    scope: "machine",
    takesEffect: "restart"
  }),
  drainSeconds: setting(number2().min(0).max(600), "How long a daemon that stops waits for running work.", {
    default: 5,
    scope: "machine",
    takesEffect: "now"
  }),
  "retention.days": setting(
    int().min(1).max(36500).nullable(),
    "Days after which sessions that have ended are removed, with their events and workspaces; null: never.",
    { default: null, scope: "machine", takesEffect: "now" }
  ),
  "retention.events": setting(
    int().min(1).nullable(),
    "How many of the newest events are kept whatever their age; sessions that ended before them are removed; null: all.",
    { default: null, scope: "machine", takesEffect: "now" }
  ),
  "artifacts.maxBytes": setting(
    int().min(0),
    "Bytes that all artifacts may hold together; what is over is left out, and told.",
    { default: 10 * 2 ** 30, scope: "machine", takesEffect: "now" }
  ),
  "artifacts.sessionMaxBytes": setting(
    int().min(0),
    "Bytes that the artifacts of one session, or of one shell, may hold together; what is over is left out, and told.",
    { default: 2 ** 30, scope: "machine", takesEffect: "now" }
  ),
  "artifacts.days": setting(
    int().min(1).max(36500).nullable(),
    "Days after which artifacts are removed; null: with their session.",
    { default: 30, scope: "machine", takesEffect: "now" }
  ),
  "limits.pids": setting(int().min(16).max(1e6), "Processes and threads that an agent may have at once.", {
    default: 1024,
    scope: "machine",
    takesEffect: "next-session"
  }),
  "limits.memoryMb": setting(
    int().min(0).max(1e8),
    "Memory that an agent's programs may hold together, in MiB; 0: half of the machine's, and 4096 at most.",
    { default: 0, scope: "machine", takesEffect: "next-session" }
  ),
  "limits.cpus": setting(
    number2().min(0).max(4096),
    "Processors' worth of time that an agent may use; 0: all but half of one of the machine's, and 4 at most.",
    { default: 0, scope: "machine", takesEffect: "next-session" }
  ),
  "limits.diskMb": setting(int().min(1).max(1e9), "What an agent may add to the disk, in MiB.", {
    default: 10240,
    scope: "machine",
    takesEffect: "next-session"
  }),
  "limits.outputMb": setting(int().min(1).max(1e6), "What one command may write to its output, in MiB.", {
    default: 256,
    scope: "machine",
    takesEffect: "next-session"
  }),
  "container.image": setting(
    union([imageName, string2().max(4096).regex(/^\//, "expected the name of an image, or an absolute path")]).nullable(),
    "The image that containers are opened from, or the absolute path of a folder with a Containerfile to build it from; null: each names its own.",
    { default: null, scope: "machine", takesEffect: "next-session" }
  ),
  "container.volumes": setting(
    containerVolumes,
    "Volumes of the container engine by the path where each one is seen in every container.",
    { default: {}, scope: "machine", takesEffect: "next-session" }
  ),
  "logs.level": setting(
    _enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    "The least important of the daemon's own log lines that is written.",
    { default: "info", scope: "machine", takesEffect: "now", variable: "CORRAL_LOG_LEVEL" }
  )
}, settingKeys = Object.keys(settings), settingKey = _enum(settingKeys), takesEffect = _enum(["now", "next-session", "restart"]), configLayer = _enum(["user", "project", "local"]);
var configOrigin = discriminatedUnion("kind", [
  object({ kind: literal("default") }),
  object({
    kind: literal("file"),
    layer: configLayer,
    file: string2(),
    line: int().positive(),
    lastGood: literal(!0).optional()
  }),
  object({ kind: literal("variable"), name: string2() }),
  object({ kind: literal("flag"), name: string2() })
]), configEntry = object({
  key: settingKey,
  value: unknown(),
  origin: configOrigin,
  default: unknown(),
  description: string2(),
  takesEffect,
  /** The daemon still runs with another value, until it is started again. */
  restartNeeded: boolean2()
}), configSource = object({ layer: configLayer, file: string2(), project: projectId.optional() }), configProblem = object({ line: int().positive(), column: int().positive(), message: string2() }), configFile = object({
  layer: configLayer,
  file: string2(),
  state: _enum(["absent", "applied", "untrusted", "rejected"]),
  /** The version it is written in, when it can be read. */
  version: int().nonnegative().optional(),
  problem: configProblem.optional()
}), configView = object({
  project: projectId.optional(),
  entries: array(configEntry),
  files: array(configFile),
  /** Variables whose value is not taken, and why. */
  refusedVariables: array(object({ name: string2(), message: string2() })),
  seq: int().nonnegative()
}), setConfig = object({
  key: settingKey,
  value: unknown(),
  layer: configLayer.default("user"),
  /** Of a list to which every layer adds: whether the value is all of it (without), or what is put on it or taken off. */
  how: _enum(["replace", "add", "remove"]).optional(),
  project: projectId.optional()
}), upgradeConfig = object({ project: projectId.optional() }), upgradeAnswer = object({
  upgraded: array(object({ file: string2(), from: int(), to: int() }))
});
function setting(schema, description, terms) {
  return { schema, description, ...terms };
}

// packages/protocol/src/daemon.ts
var daemonInfo = object({
  url: string2(),
  pid: int(),
  version: string2(),
  /** It drains and takes no new work; gone soon. */
  stopping: literal(!0).optional()
}), stopDaemon = object({ now: boolean2().default(!1) }), health = object({ ok: literal(!0), version: string2() }), stopAnswer = object({ kind: literal("stopping") });

// packages/protocol/src/doctor.ts
var finding = object({
  name: string2(),
  /** `warning`: something does not work or is not as good; `failed`: agents cannot work. */
  state: _enum(["ok", "warning", "failed"]),
  /** What there is. */
  found: string2(),
  /** What it is for. */
  why: string2(),
  /** What mends it; there unless it is ok. */
  fix: string2().optional()
}), doctorReport = object({ findings: array(finding) });

// packages/protocol/src/error.ts
var errorStatus = {
  "request.invalid": 400,
  "request.token-in-url": 400,
  "auth.missing": 401,
  "auth.refused": 403,
  "auth.scope": 403,
  "not-found": 404,
  "route.unknown": 404,
  "request.timeout": 408,
  "idempotency.conflict": 409,
  "cursor.ahead": 409,
  "input.conflict": 409,
  "input.promoted": 409,
  "append.conflict": 409,
  "lease.stale": 409,
  "recovery.nothing": 409,
  "session.busy": 409,
  "request.too-large": 413,
  "request.media-type": 415,
  "host.refused": 421,
  "request.range": 416,
  "stream.upgrade-needed": 426,
  "project.not-a-repo": 422,
  "project.no-worktree": 422,
  "project.missing": 422,
  "project.unreadable": 422,
  "project.unwritable": 422,
  "trust.changed": 409,
  "trust.needed": 409,
  "config.invalid": 422,
  "config.broken": 409,
  "model.unknown": 422,
  "login.throttled": 429,
  "auth.throttled": 429,
  "request.headers-too-large": 431,
  "jail.unavailable": 503,
  "daemon.stopping": 503,
  "daemon.unreachable": 503,
  "daemon.running": 409,
  "daemon.version": 409,
  "port.unusable": 409,
  "home.unusable": 500,
  "provider.unavailable": 502,
  "provider.refused": 502,
  "environment.gone": 500,
  "environment.unkept": 422,
  "command.conflict": 409,
  "shell.closed": 409,
  "file.missing": 404,
  "file.exists": 409,
  "file.changed": 409,
  "file.unsuitable": 422,
  "file.refused": 403,
  "file.too-large": 413,
  "file.failed": 500,
  "workspace.none": 409,
  "workspace.busy": 409,
  "workspace.foreign": 422,
  "workspace.conflict": 409,
  "workspace.overlap": 409,
  "workspace.unsuitable": 422,
  "workspace.setup-failed": 409,
  "workspace.failed": 500,
  "artifact.expired": 410,
  "storage.missing": 404,
  "storage.too-large": 413,
  "storage.damaged": 500,
  "storage.full": 507,
  "storage.failed": 500,
  "log.closed": 503,
  "log.reader-too-slow": 503,
  "log.trimmed": 410,
  "log.full": 507,
  "log.unwritable": 503,
  "log.damaged": 500,
  "log.unchained": 409,
  "log.too-new": 500,
  "runner.lost": 500,
  internal: 500
}, problem = object({
  type: string2(),
  title: string2(),
  status: int(),
  code: string2(),
  detail: string2().optional(),
  hint: string2().optional(),
  retry: _enum(["now", "later", "never"]),
  /** How long `later` is, where that is known. */
  retryAfterSeconds: int().optional()
}), CorralError = class _CorralError extends Error {
  name = "CorralError";
  code;
  retry;
  retryAfterSeconds;
  hint;
  constructor(code, message, details = {}) {
    super(message, details.cause === void 0 ? void 0 : { cause: details.cause }), this.code = code, this.retry = details.retry ?? "never", this.retryAfterSeconds = details.retryAfterSeconds, this.hint = details.hint;
  }
  toProblem() {
    return {
      type: `urn:corral:error:${this.code}`,
      title: this.message,
      status: errorStatus[this.code],
      code: this.code,
      retry: this.retry,
      ...this.retryAfterSeconds === void 0 ? {} : { retryAfterSeconds: this.retryAfterSeconds },
      ...this.hint === void 0 ? {} : { hint: this.hint }
    };
  }
  static fromProblem(document) {
    let known = Object.hasOwn(errorStatus, document.code) ? document.code : unnamed(document.status), message = document.detail === void 0 ? document.title : `${document.title}: ${document.detail}`;
    return new _CorralError(known, message, {
      retry: document.retry,
      ...document.retryAfterSeconds === void 0 ? {} : { retryAfterSeconds: document.retryAfterSeconds },
      ...document.hint === void 0 ? {} : { hint: document.hint }
    });
  }
};
function unnamed(status) {
  return status < 500 ? "request.invalid" : "internal";
}

// packages/protocol/src/input.ts
var delivery = _enum(["steer", "queue"]), attachment = object({ name: string2().max(255), mediaType: string2(), reference: string2() }), admitInput = object({
  id: inputId,
  text: string2().min(1).max(1e6),
  /** None is taken so far; an input with one is refused rather than half understood. */
  attachments: array(attachment).max(0, "attachments are not taken").default([]),
  delivery: delivery.default("steer")
}), inputView = object({
  id: inputId,
  text: string2(),
  attachments: array(attachment),
  delivery,
  state: _enum(["waiting", "promoted"]),
  activityId: activityId.nullable()
}), admission = object({ kind: _enum(["admitted", "duplicate"]), input: inputView, seq: int() });

// packages/protocol/src/lift.ts
var lifts = {
  "environment.opened": [
    ({ state }) => ({ state: { ...state, version: 2, access: "write", cgroups: [] } })
  ]
};
function lift(stored, table = lifts) {
  let pending = liftsOf(stored.type, table).slice(stored.typeVersion - 1);
  if (pending.length === 0) return stored;
  let data = pending.reduce((older, next) => next(older), stored.data);
  return { ...stored, typeVersion: stored.typeVersion + pending.length, data };
}
var none = [];
function liftsOf(type, table) {
  return Object.hasOwn(table, type) ? table[type] : none;
}

// packages/protocol/src/terminal.ts
var terminalSize = object({ columns: int().min(2).max(1e3), rows: int().min(2).max(1e3) }), openTerminalWish = object({
  columns: terminalSize.shape.columns.default(80),
  rows: terminalSize.shape.rows.default(24)
}), openedTerminal = object({ id: terminalId, environment: environmentId, ...terminalSize.shape }), closedTerminal = object({
  id: terminalId,
  reason: string2(),
  exitCode: int().optional(),
  scrollback: string2().optional()
}), of = union([shellId, sessionId]), terminalView = discriminatedUnion("state", [
  object({
    id: terminalId,
    of,
    state: literal("open"),
    /** False: there is no tmux that would hold it, so it ends when the daemon does. */
    lasting: boolean2(),
    viewers: int(),
    ...terminalSize.shape
  }),
  closedTerminal.extend({ of, state: literal("closed") })
]), terminalList = object({ terminals: array(terminalView) }), terminalRequest = discriminatedUnion("kind", [
  terminalSize.extend({ kind: literal("resize") }),
  object({ kind: literal("ping") })
]), terminalMessage = discriminatedUnion("kind", [
  /** Somebody gave it another size. */
  terminalSize.extend({ kind: literal("size") }),
  /** It is over; nothing follows. */
  object({ kind: literal("closed"), terminal: closedTerminal }),
  object({ kind: literal("heartbeat") }),
  object({ kind: literal("pong") }),
  object({ kind: literal("problem"), problem })
]);

// packages/protocol/src/snapshot.ts
var snapshotTaken = object({
  snapshotId,
  tree: string2(),
  /** The one before it in this workspace. */
  previous: snapshotId.nullable(),
  /** `start`: before any work. `removal`: before the folder goes. `person`: somebody asked for it. */
  reason: _enum(["start", "calls", "removal", "person"]),
  /** The calls, or commands of a person's shell, that ended since the one before: who made the difference. */
  calls: array(callId),
  commands: array(commandId),
  /** Counted from the one before. */
  files: int(),
  insertions: int(),
  deletions: int(),
  skipped: array(skippedFile),
  /** Its new objects as they are kept in storage: a pack, by the SHA-256 of it. */
  pack: string2().optional()
}), snapshotView = object({
  id: snapshotId,
  session: sessionId,
  ...snapshotTaken.omit({ snapshotId: !0, pack: !0 }).shape,
  /** The seq of the event that tells of it. */
  seq: int(),
  /** When it was taken, about. */
  at: string2()
}), snapshotList = object({ snapshots: array(snapshotView) }), takeSnapshotAnswer = object({ kind: _enum(["taken", "unchanged"]), snapshot: snapshotView }), snapshotDiff = object({
  session: sessionId,
  from: snapshotId,
  to: snapshotId.optional(),
  files: array(changedFile),
  /** The difference as git prints it; cut when it is very long. */
  patch: string2(),
  truncated: boolean2()
}), restoreSnapshot = object({
  paths: array(string2().min(1).max(4096)).min(1).max(1e3).optional()
}), restoreAnswer = object({
  kind: literal("restored"),
  snapshot: snapshotId,
  before: snapshotId,
  after: snapshotId
});

// packages/protocol/src/token.ts
var scope = _enum(["read", "prompt", "operate", "admin"]), scopes = scope.options;
var plainName = string2().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, "expected up to 64 letters, digits, dots, dashes, underscores or @");
var createToken = object({
  name: plainName,
  /** Whose deeds they are. By default the name; for makers that are no admins always themselves. */
  person: plainName.optional(),
  scope: scope.default("read"),
  /** Nothing outside of this project exists for the bearer. */
  project: projectId.optional(),
  /** Nothing outside of this session exists for the bearer. */
  session: sessionId.optional(),
  expiresInSeconds: int().min(1).max(10 * 366 * 86400).optional()
}), tokenFacts = object({
  id: tokenId,
  name: string2(),
  person: string2(),
  scope,
  project: projectId.optional(),
  session: sessionId.optional(),
  expiresAt: string2().optional(),
  /** The token it was made with; it ends with that one. */
  madeWith: tokenId.optional(),
  hash: string2()
}), tokenView = tokenFacts.omit({ hash: !0 }).extend({ state: _enum(["valid", "expired", "revoked"]) }), tokenList = object({ tokens: array(tokenView) }), createdToken = tokenView.extend({ token: string2() }), revokeAnswer = object({ kind: _enum(["revoked", "already-revoked"]), id: tokenId });

// packages/protocol/src/usage.ts
var usage = object({
  inputTokens: int().nonnegative(),
  outputTokens: int().nonnegative(),
  cachedInputTokens: int().nonnegative().optional()
});

// packages/protocol/src/event.ts
var eventData = {
  "project.registered": object({
    id: projectId,
    path: string2(),
    name: string2(),
    /** Where git keeps the repository; all its worktrees share it. */
    gitFolder: string2().optional()
  }),
  /** The same repository was found elsewhere, and is gone from where it was. */
  "project.moved": object({
    id: projectId,
    from: string2(),
    path: string2(),
    name: string2(),
    gitFolder: string2()
  }),
  /** Another folder of the same repository. */
  "project.worktree-found": object({ id: projectId, path: string2() }),
  /** The owner trusts what these files said, by its hash; for all of the project's files, in place of what was trusted before. */
  "project.trusted": object({ id: projectId, files: record(string2(), string2()) }),
  /** Off the list and no longer trusted; its sessions stay. */
  "project.forgotten": object({ id: projectId }),
  /** A file says something else than before (or says it for the first time, or no longer). */
  "config.changed": object({ keys: array(string2()), origin: configSource }),
  /** A file cannot be taken; what was good before stays. */
  "config.rejected": object({ ...configSource.shape, ...configProblem.shape }),
  "session.created": object({
    projectId,
    worktree: string2().optional(),
    title: string2(),
    model: string2(),
    mode,
    environment: environmentWish,
    workspace: workspaceKind,
    turnLimit: int().positive(),
    /** What a copy begins with; without: HEAD. */
    base: workspaceBase.optional(),
    /** It begins with what a snapshot holds, as this commit. */
    fork: object({ snapshotId, commit: string2() }).optional(),
    /** Patterns of files besides those in git that come along. */
    copyList: array(string2()).optional(),
    /** What is run in a new copy before any work, and what becomes of the work when it fails. */
    setup: object({ command: string2(), onFailure: _enum(["stop", "go-on"]) }).optional()
  }),
  /** It ended long ago and was let go for its age: it is no more, nor are its inputs and artifacts; its events go as time allows. */
  "session.expired": object({ inputs: array(inputId), artifacts: array(artifactId).optional() }),
  "workspace.prepared": object({
    path: string2(),
    branch: string2(),
    base: string2(),
    /** Host folders the workspace reads from, visible in the environment at the same place. */
    readable: array(string2()),
    /** Variables the environment gets for its sake (author and committer). */
    variables: record(string2(), string2()),
    /** The user's commit of that time, when the branch starts from another. */
    head: string2().optional(),
    /** How it was made. */
    way: _enum(["shared objects", "spare", "in place"]).optional(),
    remotes: array(object({ name: string2(), url: string2() })).optional(),
    /** What the copy lacks: submodules are not fetched, files of Git LFS are pointers. */
    lacks: object({ submodules: array(string2()), lfs: boolean2() }).optional(),
    /** Files from the copy list. */
    extras: array(string2()).optional(),
    /** Uncommitted files that did not come along. */
    skipped: array(skippedFile).optional()
  }),
  /** What was done in the workspace is a branch of the user's repository now. */
  "workspace.brought-back": broughtBack,
  /** There was nothing in it that had not been brought before. */
  "workspace.unchanged": object({}),
  /** It is all still in the workspace, and is tried again after the next activity. */
  "workspace.bring-back-failed": object({ message: string2() }),
  /** The user's folder is about to be changed. What is cut off here is finished, or given up, at the next start. */
  "workspace.merge-begun": workspaceMerge,
  "workspace.merged": workspaceMerge,
  "workspace.merge-given-up": object({ reason: string2() }),
  /** Moved aside with all that is in it; its branch is gone from the user's repository. */
  "workspace.discarded": discarded,
  /** As it was before it was discarded. */
  "workspace.restored": discarded,
  /** It rested for so long that its folder was removed. Its branch stays; the next work begins from there. */
  "workspace.cleared": object({ commit: string2() }),
  /** A snapshot is kept. */
  "snapshot.taken": snapshotTaken,
  /** The workspace's files, or those of the paths named, are again what they were then. */
  "snapshot.restored": object({ snapshotId, paths: array(string2()).optional() }),
  /** Too old, or too many: its files can no longer be had. `packs`: those in storage that hold all that is left, from now on. */
  "snapshot.expired": object({ snapshotId, packs: array(string2()).optional() }),
  /** None could be taken; the next one covers what these calls did. */
  "snapshot.failed": object({ message: string2(), calls: array(callId) }),
  /** A file comes out of the work. */
  "artifact.announced": artifactAnnounced,
  "artifact.kept": artifactKept,
  "artifact.expired": artifactExpired,
  /** The command that makes a new copy ready for work runs. */
  "setup.started": object({ attempt: int().positive(), command: string2() }),
  "setup.ended": object({
    attempt: int().positive(),
    outcome: _enum(["done", "failed", "cancelled"]),
    exitCode: int().optional(),
    /** What it printed, cut in the middle when long. */
    output: string2()
  }),
  /** A person's word on it. */
  "setup.decided": object({ decision: _enum(["cancel", "again", "skip"]) }),
  "environment.opened": object({ state: environmentState }),
  /** The environment was found ended (or was ended); a later command opens another. */
  "environment.closed": object({ id: environmentId, reason: string2() }),
  /** Somebody in the session's environment reached a host, or tried to. In place of what was recorded of the same before. */
  "network.reached": networkContact,
  "input.admitted": object({ id: inputId, text: string2(), attachments: array(attachment), delivery }),
  "input.promoted": object({ id: inputId, activityId }),
  "activity.opened": object({ id: activityId }),
  "activity.interrupt-requested": object({ id: activityId }),
  /** The activity does nothing more until a person decides. */
  "activity.waiting": object({ id: activityId, on: _enum(["recovery", "continue"]) }),
  /** A person has decided; the activity goes on. */
  "activity.resumed": object({ id: activityId }),
  "activity.settled": object({
    id: activityId,
    outcome: _enum(["done", "failed", "interrupted"]),
    error: object({ code: string2(), message: string2(), hint: string2().optional() }).optional()
  }),
  /** What will be asked is fixed; the hash tells whether a later attempt asks the same. */
  "turn.prepared": object({ id: turnId, activityId, model: string2(), requestHash: string2() }),
  /** Durable before the request leaves. Attempts after the first follow a crash or a failed request. */
  "turn.dispatched": object({ id: turnId, attempt: int().positive() }),
  /** One attempt failed without any effect; another follows unless the turn settles. */
  "turn.attempt-failed": object({
    id: turnId,
    attempt: int().positive(),
    error: object({ code: string2(), message: string2() })
  }),
  /** A whole text or reasoning part of the reply; its deltas came before on the live lane. `cut`: it ended early. */
  "turn.said": object({
    id: turnId,
    part: partId,
    kind: _enum(["text", "reasoning"]),
    text: string2(),
    cut: boolean2().optional(),
    /** What the provider wants back with this part in later requests (signatures), as it gave it. */
    providerMetadata: record(string2(), unknown()).optional()
  }),
  /** The reply is whole; its calls may still run. */
  "turn.replied": object({ id: turnId, finish: string2(), usage }),
  /** All its calls have ended. `cut`: the reply ended early and what came is kept; `failed`: no attempt got a reply. */
  "turn.settled": object({ id: turnId, outcome: _enum(["replied", "cut", "failed"]) }),
  /** Recorded when its arguments are complete. `malformed`: they were not what the tool takes; it will fail. */
  "call.requested": object({
    id: callId,
    turnId,
    providerCallId: string2(),
    tool: string2(),
    arguments: record(string2(), unknown()),
    malformed: string2().optional()
  }),
  /** `reads`: as far as can be told before, it changes no file. */
  "call.started": object({ id: callId, attempt: int().positive(), reads: literal(!0).optional() }),
  "call.settled": object({ id: callId, result: unknown(), recovered: boolean2().optional() }),
  "call.failed": object({ id: callId, error: object({ code: string2(), message: string2() }) }),
  "call.interrupted": object({ id: callId, result: unknown().optional() }),
  /** It had started and nobody can tell how it ended; a person decides. */
  "call.unknown": object({ id: callId, reason: string2() }),
  "call.decided": object({ id: callId, decision: _enum(["retry", "abandon"]) }),
  /** A person's shell; its environment is told of as a session's is. */
  "shell.opened": shellFacts,
  /** `kept`: its files stay, for something was changed in them. */
  "shell.closed": object({ reason: string2(), kept: string2().optional() }),
  /** Durable before it runs. */
  "shell.command-started": startedCommand,
  /** How it ended; its output is not stored. `recovered`: whoever started it had gone in the meantime. */
  "shell.command-ended": object({
    id: commandId,
    ...commandFacts.shape,
    durationMs: number2().optional(),
    interruptedBy: string2().optional(),
    recovered: boolean2().optional()
  }),
  "shell.command-unknown": object({ id: commandId, reason: string2() }),
  /** Of a shell. Durable before anything of it runs. */
  "terminal.opened": openedTerminal,
  /** Its program ended, was ended, or could not begin. */
  "terminal.closed": closedTerminal,
  "token.created": tokenFacts,
  "token.revoked": object({ id: tokenId }),
  /** Somebody at this address tried wrong tokens; told once for many of them. */
  "auth.guessed": object({ address: string2(), attempts: int().positive() }),
  /**
   * A request with an idempotency key is under way. `key` and `body` are hashes; what the request makes gets an id that
   * ends with `tail`, so that doing it again after a crash makes it once.
   */
  "request.begun": object({ key: string2(), body: string2(), tail: string2(), forgets: array(string2()) }),
  /** Its answer, for whoever sends it again; null when it held a secret. */
  "request.answered": object({ key: string2(), status: int(), answer: string2().nullable() }),
  /** What stands in the place of an event whose stream was erased: its seq is kept, its facts are gone. */
  erased: object({}),
  /** The last of an erased stream, so that whoever follows forgets what it has of it. */
  "stream.erased": object({})
};
var eventEnvelope = object({
  seq: int().positive(),
  stream: string2(),
  version: int().positive(),
  typeVersion: int().positive(),
  actor: string2(),
  traceId: string2().optional(),
  approximateCreationTime: string2()
}), wireEvent = eventEnvelope.extend({ type: string2(), data: unknown() });
var gap = object({ kind: literal("gap"), from: int().positive(), to: int().positive() }), eventPage = object({
  events: array(wireEvent),
  next: int().nonnegative(),
  gap: gap.optional()
});

// packages/protocol/src/live.ts
var delta = discriminatedUnion("kind", [
  object({ kind: literal("text"), session: sessionId, part: partId, offset: int(), text: string2() }),
  object({ kind: literal("reasoning"), session: sessionId, part: partId, offset: int(), text: string2() }),
  object({ kind: literal("stdout"), session: sessionId, part: callId, offset: int(), text: string2() }),
  object({ kind: literal("stderr"), session: sessionId, part: callId, offset: int(), text: string2() })
]);

// packages/protocol/src/login.ts
var loginCode = object({ code: string2(), expiresInSeconds: int().positive() }), enterLogin = object({ code: string2().min(1).max(200) }), loginAnswer = object({ kind: literal("logged-in") }), logoutAnswer = object({ kind: literal("logged-out") });

// packages/protocol/src/project.ts
var registerProject = object({ path: string2().min(1).max(4096) }), projectView = object({
  id: projectId,
  path: string2(),
  name: string2(),
  /** Whether the folder is there at the moment. */
  present: boolean2(),
  seq: int()
}), registeredProject = projectView.extend({ worktree: string2() }), projectList = object({ projects: array(projectView) }), forgetAnswer = object({ kind: literal("forgotten") }), sha256 = string2().regex(/^[0-9a-f]{64}$/), settingsFile = discriminatedUnion("state", [
  object({ state: literal("trusted"), path: string2(), sha256, content: string2() }),
  object({ state: literal("untrusted"), path: string2(), sha256, content: string2() }),
  object({ state: literal("unreadable"), path: string2(), reason: string2() })
]), trustView = object({ project: projectId, files: array(settingsFile), seq: int() }), trustFiles = object({ files: record(string2().max(255), sha256) });

// packages/protocol/src/status.ts
var count = int().nonnegative(), daemonStatus = object({
  version: string2(),
  pid: int(),
  url: string2(),
  home: string2(),
  uptimeSeconds: number2().nonnegative(),
  /** How many sessions are in each state. */
  sessions: object({ idle: count, thinking: count, waiting: count, failed: count }),
  /** Runner processes, and how many sessions each has in its hands. */
  runners: array(object({ pid: int(), sessions: count })),
  /** `freeBytes`: room on the disk that holds the home. */
  disk: object({ freeBytes: count, databaseBytes: count, logBytes: count }),
  /** What is wrong with the database, or was: `damaged` ones lie where they were set aside until somebody removes them. */
  database: object({ isSuspect: boolean2(), damaged: array(string2()) }),
  seq: count
});

// packages/protocol/src/stream.ts
var streamFilter = object({
  session: sessionId.optional(),
  project: projectId.optional(),
  /** Types of events, or the part before the dot followed by `.*`. */
  types: array(eventPattern()).max(100).optional()
});
function eventPattern() {
  return string2().regex(/^[a-z][a-z-]*(\.(\*|[a-z][a-z-]*))?$/, "expected an event type, or a prefix like turn.*");
}
var streamRequest = discriminatedUnion("kind", [
  streamFilter.extend({
    kind: literal("subscribe"),
    /** The seq of the last event seen. */
    after: int().nonnegative().default(0),
    deltas: boolean2().default(!0)
  }),
  object({ kind: literal("ping") })
]), streamMessage = discriminatedUnion("kind", [
  /** What follows is of this subscription. */
  object({ kind: literal("subscribed"), after: int() }),
  object({ kind: literal("event"), event: wireEvent }),
  object({ kind: literal("delta"), delta }),
  /** Events from `from` to `to` are no longer kept; the stream goes on behind them. */
  object({ kind: literal("gap"), from: int(), to: int() }),
  /** Nothing happened, and the connection lives. */
  object({ kind: literal("heartbeat") }),
  object({ kind: literal("pong") }),
  object({ kind: literal("problem"), problem })
]);

// packages/daemon/src/home/home.ts
import { accessSync, chmodSync, constants, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
function openHome(folder) {
  try {
    makeFolder(folder), chmodSync(folder, 448), accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unusableHome(folder, cause);
  }
  return {
    folder,
    database: join(folder, "corral.db"),
    lock: join(folder, "lock"),
    info: join(folder, "daemon.json"),
    token: join(folder, "token")
  };
}
function makeFolder(path) {
  let attempt2 = () => mkdirSync(path, { mode: 448 });
  try {
    attempt2();
  } catch (error2) {
    let { code } = error2;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error2;
    makeFolder(dirname(path)), attempt2();
  }
}
function unusableHome(folder, cause) {
  return new CorralError("home.unusable", `${folder} cannot hold Corral's state: ${cause.message}`, {
    cause,
    hint: "See that the folder is yours and its disk has room, or set CORRAL_HOME to another folder"
  });
}

// packages/daemon/src/home/info.ts
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
function readDaemonInfo(home) {
  try {
    return daemonInfo.parse(JSON.parse(readFileSync(home.info, "utf8")));
  } catch {
    return;
  }
}

// packages/daemon/src/home/lock.ts
import { DatabaseSync } from "node:sqlite";
function lockHome(home) {
  let database = openLock(home);
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (cause) {
    throw database.close(), isBusy(cause) ? alreadyRunning(home, readDaemonInfo(home), cause) : unusableHome(home.folder, cause);
  }
  return { release: () => database.close() };
}
function openLock(home) {
  try {
    return new DatabaseSync(home.lock);
  } catch (cause) {
    throw unusableHome(home.folder, cause);
  }
}
function isBusy(cause) {
  let { errcode } = cause;
  return typeof errcode == "number" && (errcode & 255) === 5;
}
function alreadyRunning(home, other, cause) {
  let who = other === void 0 ? "Another daemon" : `A daemon (pid ${other.pid}, ${other.url})`;
  return new CorralError("daemon.running", `${who} already serves ${home.folder}.`, {
    cause,
    hint: "Use that one, stop it with `corral stop`, or set CORRAL_HOME to another folder."
  });
}

// packages/daemon/src/log/chain.ts
import { hash } from "node:crypto";
var genesis = "0".repeat(43);
function factsHash(salt, { type, typeVersion, traceId, data }) {
  return sha2562(`${JSON.stringify([salt, type, typeVersion, traceId])}${data}`);
}
function wholeHash({ stream, version: version2, actor, time: time3 }, facts) {
  return sha2562(JSON.stringify([stream, version2, actor, time3, facts]));
}
function linkAfter(previous, seq, whole) {
  return sha2562(`${previous} ${seq} ${whole}`);
}
function headText(seq, link) {
  return `${seq}:${link}`;
}
function readHead(text) {
  let [, seq, link] = /^(\d{1,15}):([\w-]{43})$/.exec(text.trim()) ?? [];
  return seq === void 0 || link === void 0 ? void 0 : { seq: Number(seq), link };
}
function sha2562(text) {
  return hash("sha256", text, "base64url");
}

// packages/daemon/src/log/verify.ts
import { setImmediate as nextLoopTurn } from "node:timers/promises";
var toldBreaks = 100;
async function verifyChain(log, { head, signal, onProgress } = {}) {
  let verifier = new Verifier(head), page = await log.chain({ after: void 0 });
  for (; page.length > 0; ) {
    signal?.throwIfAborted();
    for (let record2 of page) verifier.take(record2);
    onProgress?.(verifier.position), await nextLoopTurn(), page = await log.chain({ after: verifier.position });
  }
  return verifier.report();
}
var Verifier = class {
  position = 0;
  #wanted;
  #link = genesis;
  #instead;
  #found;
  #head = null;
  #events = 0;
  #olderUpTo = 0;
  #erased = 0;
  #trimmed = 0;
  #trimmedUpTo = 0;
  #gaps = [];
  #breaks = [];
  #breakCount = 0;
  /** Streams with erased events whose end was not met yet, and the first of those events. */
  #endless = /* @__PURE__ */ new Map();
  constructor(head) {
    this.#wanted = head === void 0 ? void 0 : readHead(head);
  }
  take(record2) {
    switch (record2.kind) {
      case "begin":
        return this.#begin(record2);
      case "skip":
        return this.#passOver(record2);
      case "place":
        return this.#goOn(record2);
    }
  }
  report() {
    for (let [stream, seq] of this.#endless) this.#tell({ kind: "erased", from: seq, to: seq, stream });
    let found = this.#wanted === void 0 ? void 0 : this.#found ?? "ahead";
    return {
      verdict: this.#breakCount > 0 || found !== void 0 && found !== "on-chain" ? "broken" : "intact",
      head: this.#head,
      events: this.#events,
      olderUpTo: this.#olderUpTo,
      erased: this.#erased,
      trimmed: this.#trimmed,
      trimmedUpTo: this.#trimmedUpTo,
      gaps: this.#gaps,
      breaks: this.#breaks,
      breakCount: this.#breakCount,
      ...this.#wanted === void 0 || found === void 0 ? {} : { kept: { head: headText(this.#wanted.seq, this.#wanted.link), found } }
    };
  }
  #begin({ seq, link }) {
    if (this.position = seq, this.#olderUpTo = seq, this.#link = link, link !== genesis && this.#tell({ kind: "begin", from: seq, to: seq }), this.#wanted === void 0 || this.#wanted.seq > seq) return;
    let isBeginning = this.#wanted.seq === seq && this.#wanted.link === link;
    this.#found = isBeginning ? "on-chain" : "older";
  }
  #passOver({ from, to, holds }) {
    this.#missUpTo(from - 1), this.#gaps.push({ from, to }), holds > 0 && this.#tell({ kind: "inserted", from, to }), this.#wanted !== void 0 && this.#wanted.seq >= from && this.#wanted.seq <= to && (this.#found = "passed-over"), this.position = Math.max(this.position, to);
  }
  #goOn(place) {
    if (!(place.seq <= this.position)) {
      if (this.#missUpTo(place.seq - 1), this.position = place.seq, this.#events += 1, place.link === void 0) return this.#tell({ kind: "inserted", ...whereIs(place) });
      this.#judge(place, place.link), this.#head = headText(place.seq, place.link), this.#wanted?.seq === place.seq && (this.#found = this.#wanted.link === place.link ? "on-chain" : "other-link");
    }
  }
  #judge(place, link) {
    let whole = this.#wholeOf(place), before = this.#link, instead = this.#instead;
    if (this.#link = link, this.#instead = void 0, whole === void 0) return this.#tell({ kind: "missing", ...whereIs(place) });
    if (before === void 0) return;
    let right = linkAfter(before, place.seq, whole);
    if (right !== link) {
      if (instead !== void 0 && linkAfter(instead, place.seq, whole) === link) return this.#blameLink();
      this.#instead = right, this.#tell({ kind: "changed", ...whereIs(place) });
    }
  }
  /** Undefined: the event is gone, and nothing says that it may be. */
  #wholeOf({ seq, event: event2, kept, salt }) {
    if (event2 === void 0)
      return kept === void 0 ? void 0 : (this.#trimmed += 1, this.#trimmedUpTo = seq, kept);
    let isEnd = event2.type === "stream.erased";
    return isEnd && this.#endless.delete(event2.stream), event2.type !== "erased" && !isEnd ? wholeHash(event2, factsHash(salt, event2)) : (isEnd || (this.#erased += 1, this.#endless.has(event2.stream) || this.#endless.set(event2.stream, seq)), wholeHash(event2, kept ?? factsHash(salt, event2)));
  }
  #missUpTo(seq) {
    seq <= this.position || (this.#tell({ kind: "missing", from: this.position + 1, to: seq }), this.#wanted !== void 0 && this.#wanted.seq > this.position && this.#wanted.seq <= seq && (this.#found = "other-link"), this.position = seq, this.#link = void 0, this.#instead = void 0);
  }
  /** The event told of last is what it was. */
  #blameLink() {
    let last = this.#breaks.at(-1);
    last !== void 0 && this.#breakCount <= toldBreaks && (this.#breaks[this.#breaks.length - 1] = { ...last, kind: "link-changed" });
  }
  #tell(broken) {
    this.#breakCount += 1, this.#breaks.length < toldBreaks && this.#breaks.push(broken);
  }
};
function whereIs({ seq, event: event2 }) {
  return { from: seq, to: seq, ...event2 === void 0 ? {} : { stream: event2.stream, type: event2.type } };
}

// packages/daemon/src/log/sqlite/database.ts
import { closeSync, existsSync, mkdirSync as mkdirSync2, openSync } from "node:fs";
import { dirname as dirname2 } from "node:path";
import { backup, DatabaseSync as DatabaseSync2 } from "node:sqlite";
import { pathToFileURL } from "node:url";
var pageSize = 1024, checkpointPages = 2048, busyMilliseconds = 5e3, copiedPages = 2e3, Database = class {
  #connection;
  #statements = /* @__PURE__ */ new Map();
  /** To write: makes the file, for its owner only, when it is missing. May throw busy while another process makes it too. */
  constructor(file2, access2 = "write") {
    if (access2 === "write" && makeFile(file2), this.#connection = new DatabaseSync2(access2 === "salvage" || access2 === "examine" ? atRest(file2) : file2, {
      timeout: busyMilliseconds,
      readOnly: access2 !== "write",
      defensive: access2 !== "salvage"
    }), access2 === "salvage" && this.#connection.exec("PRAGMA writable_schema = ON"), access2 === "write")
      try {
        this.#connection.exec(`PRAGMA page_size = ${pageSize}`), this.#connection.exec("PRAGMA journal_mode = WAL"), this.#connection.exec("PRAGMA synchronous = FULL"), this.#connection.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
      } catch (error2) {
        throw this.#connection.close(), error2;
      }
  }
  /** Returns how many rows were changed. */
  run(sql, ...parameters) {
    return this.#use(sql, (statement) => Number(statement.run(...parameters).changes));
  }
  /** The first row, its cells in the order of the selected columns. */
  first(sql, ...parameters) {
    return this.#use(sql, (statement) => statement.get(...parameters));
  }
  /** Rows one by one; stopping early is fine. The same SQL must not be iterated twice at a time. */
  *each(sql, ...parameters) {
    try {
      yield* this.#statement(sql).iterate(...parameters);
    } catch (error2) {
      throw this.#statements.delete(sql), error2;
    }
  }
  /** Several statements at once, for definitions. */
  define(sql) {
    this.#connection.exec(sql);
  }
  /** False as well after SQLite gave a transaction up by itself, as it may when the disk is full. */
  get inTransaction() {
    return this.#connection.isTransaction;
  }
  /** Changes when another connection has committed, and only then. */
  get foreignCommits() {
    return this.first("PRAGMA data_version")?.[0];
  }
  /** The SQL of every statement that was used, for whoever wants to know how they are carried out. */
  get statements() {
    return [...this.#statements.keys()];
  }
  /** Copies the file as it was when this connection first read in its present transaction, in steps beside the loop. */
  async copyTo(file2) {
    await backup(this.#connection, file2, { rate: copiedPages });
  }
  /**
   * Writes every page anew, so that nothing of what was deleted is left between or within pages; it may still be in the
   * write-ahead log. Waits for nobody: "busy" when another process writes.
   */
  rewrite() {
    return this.#unlessBusy(() => (this.#connection.exec("VACUUM"), "done"));
  }
  /** Carries the write-ahead log over and empties it. Waits for nobody: "busy" when another process reads or writes. */
  emptyWriteAheadLog() {
    return this.#unlessBusy(() => this.first("PRAGMA wal_checkpoint(TRUNCATE)")?.[0] === 0 ? "done" : "busy");
  }
  close() {
    this.#statements.clear(), this.#connection.close();
  }
  #unlessBusy(work) {
    try {
      return this.#connection.exec("PRAGMA busy_timeout = 0"), work();
    } catch (error2) {
      if (isBusy2(error2)) return "busy";
      throw error2;
    } finally {
      this.#connection.exec(`PRAGMA busy_timeout = ${busyMilliseconds}`);
    }
  }
  /** A statement that failed says so once more when it is next used, so it is not. */
  #use(sql, use) {
    try {
      return use(this.#statement(sql));
    } catch (error2) {
      throw this.#statements.delete(sql), error2;
    }
  }
  #statement(sql) {
    let statement = this.#statements.get(sql);
    return statement === void 0 && (statement = this.#connection.prepare(sql), statement.setReturnArrays(!0), this.#statements.set(sql, statement)), statement;
  }
};
function inTransaction(database, work) {
  database.run("BEGIN IMMEDIATE");
  try {
    let result = work();
    return database.run("COMMIT"), result;
  } catch (error2) {
    throw database.inTransaction && database.run("ROLLBACK"), error2;
  }
}
function isBusy2(error2) {
  return resultCode(error2) === 5;
}
function isDamage(error2) {
  return [11, 26].includes(resultCode(error2));
}
function isFull(error2) {
  let systemCode = error2 instanceof Error && "code" in error2 ? error2.code : void 0;
  return resultCode(error2) === 13 || systemCode === "ENOSPC" || systemCode === "EDQUOT";
}
function resultCode(error2) {
  return error2 instanceof Error && "errcode" in error2 ? Number(error2.errcode) & 255 : 0;
}
function atRest(file2) {
  if (existsSync(`${file2}-wal`)) return file2;
  let address = pathToFileURL(file2);
  return address.searchParams.set("immutable", "1"), address;
}
function makeFile(file2) {
  mkdirSync2(dirname2(file2), { recursive: !0, mode: 448 }), closeSync(openSync(file2, "a", 384));
}

// packages/daemon/src/log/sqlite/failures.ts
function storeFailure(what, cause) {
  return cause instanceof CorralError ? cause : isDamage(cause) ? damaged(what, cause) : isFull(cause) ? full(what, cause) : new CorralError("log.unwritable", `${what}: ${asError(cause).message}.`, {
    cause,
    retry: "later",
    hint: "See that the disk has room and works, and that the file belongs to you and can be written."
  });
}
function readFailure(what, cause) {
  return isDamage(cause) ? damaged(what, cause) : cause;
}
function damaged(what, cause) {
  return new CorralError("log.damaged", `${what}: ${asError(cause).message}.`, {
    cause,
    hint: "`corral export --from FILE` gives what is readable of it, `corral backup restore FILE` puts a backup in its place. A daemon that starts on a damaged log sets it aside and begins with an empty one."
  });
}
function full(what, cause) {
  return new CorralError("log.full", `${what}: there is no room left on its disk.`, {
    cause,
    retry: "later",
    hint: "Make room on the disk that holds CORRAL_HOME. Nothing that was accepted is lost, and work goes on once there is room."
  });
}
function asError(thrown) {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

// packages/daemon/src/log/sqlite/given.ts
import { existsSync as existsSync2 } from "node:fs";

// packages/daemon/src/log/sqlite/salvage.ts
import { setImmediate as nextLoopTurn2 } from "node:timers/promises";

// packages/daemon/src/log/sqlite/chain.ts
var defaultLimit = 500, pageCharacters = 2e6;
function newestLink(database) {
  let [seq, link] = database.first("SELECT seq, link FROM chain ORDER BY seq DESC LIMIT 1") ?? [0, genesis];
  return { seq, link };
}
var columns = "e.seq, s.name, e.version, e.type, e.type_version, e.data, e.actor, e.trace_id, e.created, s.salt";
var links = "SELECT seq, link, kept FROM chain WHERE seq > ? ORDER BY seq LIMIT ?", events = `SELECT ${columns} FROM events e LEFT JOIN streams s ON s.id = e.stream
  WHERE e.seq > ? ORDER BY e.seq LIMIT ?`, inSkip = `SELECT (SELECT count(*) FROM events WHERE seq BETWEEN ? AND ?) +
  (SELECT count(*) FROM chain WHERE seq BETWEEN ? AND ?)`, skips = "SELECT first, last FROM skips WHERE last > ? ORDER BY first LIMIT ?";
function readChain(database, { after, limit = defaultLimit }) {
  database.run("BEGIN");
  try {
    if (after !== void 0) return placesAfter(database, after, limit);
    let [seq, link] = database.first("SELECT seq, link FROM chain ORDER BY seq LIMIT 1") ?? [0, ""];
    return [{ kind: "begin", seq, link }];
  } finally {
    database.run("COMMIT");
  }
}
function hasChain(database) {
  return database.first("SELECT 1 FROM sqlite_schema WHERE name = 'chain'") !== void 0;
}
function placesAfter(database, after, limit) {
  let linkRows = new Ahead(database.each(links, after, limit)), eventRows = new Ahead(database.each(events, after, limit)), skipRows = new Ahead(database.each(skips, after, limit)), records = [], characters = 0;
  try {
    for (; records.length < limit && characters < pageCharacters; ) {
      let seq = Math.min(linkRows.at, eventRows.at);
      if (skipRows.at <= seq && skipRows.at !== 1 / 0) {
        let [first, last] = skipRows.take(), [held] = database.first(inSkip, first, last, first, last) ?? [0];
        records.push({ kind: "skip", from: first, to: last, holds: held });
        continue;
      }
      if (seq === 1 / 0) break;
      let link = linkRows.at === seq ? linkRows.take() : void 0, row = eventRows.at === seq ? eventRows.take() : void 0;
      characters += row?.[5]?.length ?? 0, records.push(placeOf(seq, link, row));
    }
    return records;
  } finally {
    for (let rows of [linkRows, eventRows, skipRows]) rows.stop();
  }
}
function placeOf(seq, link, row) {
  let read = row === void 0 ? void 0 : readRow(row);
  return {
    kind: "place",
    seq,
    link: link?.[1],
    kept: link?.[2] ?? void 0,
    event: read?.event,
    salt: read?.salt ?? ""
  };
}
function readRow(row) {
  let [seq, stream, version2, type, typeVersion, data, actor, traceId, time3, salt] = row;
  return { seq, salt: salt ?? "", event: { stream: stream ?? "", version: version2, type, typeVersion, data, actor, traceId, time: time3 } };
}
var Ahead = class {
  #rows;
  #next;
  constructor(rows) {
    this.#rows = rows, this.#advance();
  }
  /** Where the next one is; infinitely far when there is none. */
  get at() {
    return this.#next?.[0] ?? 1 / 0;
  }
  take() {
    let row = this.#next;
    return this.#advance(), row;
  }
  stop() {
    this.#rows.return();
  }
  #advance() {
    let { done, value } = this.#rows.next();
    this.#next = done === !0 ? void 0 : value;
  }
};

// packages/daemon/src/log/sqlite/retention.ts
function trimmedUpTo(database) {
  return database.first("SELECT seq FROM marks WHERE name = 'trimmed'")?.[0] ?? 0;
}

// packages/daemon/src/log/sqlite/skips.ts
function skipPast(database, given, head) {
  given > head && database.run("INSERT INTO skips (first, last) VALUES (?, ?)", head + 1, given + 1);
}
function skippedUpTo(database) {
  return database.first("SELECT last FROM skips ORDER BY first DESC LIMIT 1")?.[0] ?? 0;
}

// packages/daemon/src/log/sqlite/events.ts
var columns2 = "e.seq, s.name, e.version, e.type, e.type_version, e.data, e.actor, e.trace_id, e.created", inLog = `SELECT ${columns2} FROM events e CROSS JOIN streams s ON s.id = e.stream
  WHERE e.seq > ? ORDER BY e.seq LIMIT ?`, inStream = `SELECT ${columns2} FROM streams s CROSS JOIN events e INDEXED BY events_by_stream ON e.stream = s.id
  WHERE s.name = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`;
function newestSeq(database) {
  let newest = database.first("SELECT seq FROM events ORDER BY seq DESC LIMIT 1")?.[0] ?? 0;
  return Math.max(newest, newestLink(database).seq, trimmedUpTo(database), skippedUpTo(database));
}
function fromRow(row, lifts2) {
  let [seq, stream, version2, type, typeVersion, data, actor, traceId, created] = row, stored = {
    seq,
    stream,
    version: version2,
    type,
    typeVersion,
    data: parse2(data, seq),
    actor,
    ...traceId === null ? {} : { traceId },
    approximateCreationTime: created
  };
  return lift(stored, lifts2);
}
function parse2(data, seq) {
  try {
    return JSON.parse(data);
  } catch (error2) {
    throw damaged(`The event with seq ${seq} cannot be read`, error2);
  }
}

// packages/daemon/src/log/sqlite/salvage.ts
var run = 200, patience = 1e5, columns3 = "seq, stream, version, type, type_version, data, actor, trace_id, created";
async function* salvage(file2, lifts2) {
  let database = openDamaged(file2);
  try {
    let names = streamNames(database), end = endOf(database), gaps = gapsIn(database), tally = new Tally(gaps), position = 0, empty = 0;
    for (; position < end.limit && (end.known !== void 0 || empty < patience); ) {
      let before = tally.readable, { rows, next } = readRun(database, position, end.limit);
      for (let row of rows) {
        let event2 = readable(row, names, lifts2);
        event2 !== void 0 && (yield* tally.take(event2));
      }
      empty = tally.readable > before ? 0 : empty + next - position, position = gapEnd(gaps, next + 1) ?? next, await nextLoopTurn2();
    }
    return yield* tally.missingUpTo(end.known ?? tally.last), { readable: tally.readable, lost: tally.lost, last: tally.last, isEndKnown: end.known !== void 0 };
  } finally {
    database.close();
  }
}
var Tally = class {
  readable = 0;
  lost = 0;
  last = 0;
  #gaps;
  constructor(gaps) {
    this.#gaps = gaps;
  }
  *take(event2) {
    yield* this.missingUpTo(event2.seq - 1), this.readable += 1, this.last = event2.seq, yield event2;
  }
  /** Of what is missing, nobody can tell which part of it was trimmed but by how far trimming went. */
  *missingUpTo(seq) {
    for (let from = this.last + 1; from <= seq; from = this.last + 1) {
      let gap2 = gapEnd(this.#gaps, from), to = Math.min(seq, gap2 ?? nextGap(this.#gaps, from) - 1);
      this.last = to, gap2 === void 0 && (this.lost += to - from + 1), yield { kind: gap2 === void 0 ? "lost" : "gap", from, to };
    }
  }
};
function gapsIn(database) {
  let skips2 = attempt(() => [...database.each("SELECT first, last FROM skips")]) ?? [];
  return [
    { first: 1, last: trimmedUpTo2(database) },
    ...skips2.map(([first, last]) => ({ first: Number(first), last: Number(last) }))
  ];
}
function gapEnd(gaps, seq) {
  let end = Math.max(0, ...gaps.filter(({ first, last }) => first <= seq && seq <= last).map(({ last }) => last));
  return end === 0 ? void 0 : gapEnd(gaps, end + 1) ?? end;
}
function nextGap(gaps, seq) {
  return Math.min(1 / 0, ...gaps.filter(({ first }) => first > seq).map(({ first }) => first));
}
function highestGiven(file2, now = Date.now()) {
  let { known, limit } = attempt(() => outlineOf(file2)) ?? { known: void 0, limit: 0 };
  return known !== void 0 && known <= plausible ? known : Math.max(now, Math.min(limit, plausible));
}
var plausible = 1e14;
function outlineOf(file2) {
  let database = openDamaged(file2);
  try {
    return endOf(database);
  } finally {
    database.close();
  }
}
function openDamaged(file2) {
  let database;
  try {
    if (database = new Database(file2, "salvage"), database.first("SELECT 1 FROM sqlite_schema WHERE name = 'events'") === void 0)
      throw new Error("it is no log of Corral's");
    return database;
  } catch (error2) {
    throw database?.close(), damaged(`Nothing can be read from ${file2}`, error2);
  }
}
function readRun(database, after, last) {
  let rows = attempt(() => [
    ...database.each(`SELECT ${columns3} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, after, run)
  ]), good = inOrder(rows ?? [], after), newest = good.at(-1)?.[0];
  if (newest !== void 0) return { rows: good, next: newest };
  let end = Math.min(after + run, last), alone = [];
  for (let seq = after + 1; seq <= end; seq++) {
    let row = attempt(() => database.first(`SELECT ${columns3} FROM events WHERE seq = ?`, seq));
    row !== void 0 && alone.push(row);
  }
  return { rows: alone, next: end };
}
function inOrder(rows, after) {
  let position = after;
  return rows.filter(([seq]) => typeof seq != "number" || seq <= position ? !1 : (position = seq, !0));
}
function endOf(database) {
  let told = [
    attempt(() => database.first("SELECT coalesce(max(seq), 0) FROM events")),
    attempt(() => database.first("SELECT max(seq) FROM events INDEXED BY events_by_stream WHERE stream >= 0"))
  ].flatMap((row) => typeof row?.[0] == "number" ? [row[0]] : []), gone = Math.max(...gapsIn(database).map(({ last }) => last));
  if (told.length > 0) {
    let known = Math.max(...told, gone);
    return { known, limit: known };
  }
  let pages = Number(attempt(() => database.first("PRAGMA page_count"))?.[0] ?? 0), size = Number(attempt(() => database.first("PRAGMA page_size"))?.[0] ?? 0);
  return { known: void 0, limit: gone + Math.ceil(pages * size / 40) };
}
function trimmedUpTo2(database) {
  return Number(attempt(() => database.first("SELECT max(seq) FROM marks"))?.[0] ?? 0);
}
function streamNames(database) {
  let known = /* @__PURE__ */ new Map();
  return (id) => {
    let name = known.get(id);
    if (name === void 0) {
      let found = attempt(() => database.first("SELECT name FROM streams WHERE id = ?", id))?.[0];
      name = typeof found == "string" ? found : `stream-${id}`, known.set(id, name);
    }
    return name;
  };
}
function readable([seq, stream, ...rest], names, lifts2) {
  if (isPlausible(rest))
    return attempt(() => fromRow([seq, names(Number(stream)), ...rest], lifts2));
}
function isPlausible([version2, type, typeVersion, , actor, traceId, created]) {
  return typeof version2 == "number" && typeof typeVersion == "number" && /^[a-z][\w.-]*$/i.test(String(type)) && /^[^\0]+$/.test(String(actor)) && (traceId === null || /^[^\0]+$/.test(String(traceId))) && !Number.isNaN(Date.parse(String(created)));
}
function attempt(read) {
  try {
    return read();
  } catch {
    return;
  }
}

// packages/daemon/src/log/sqlite/set-aside.ts
import { readdirSync } from "node:fs";
import { open as open2, rename, rm, stat } from "node:fs/promises";
import { basename, dirname as dirname3, join as join2 } from "node:path";
async function setAside(file2, now = /* @__PURE__ */ new Date(), cause = "damaged") {
  let aside = await freeName(`${file2}.${cause}-${stamp(now)}`);
  try {
    await moveIfThere(`${file2}-wal`, `${aside}-wal`), await rm(`${file2}-shm`, { force: !0 }), await moveIfThere(file2, aside), await syncFolder(dirname3(file2));
  } catch (error2) {
    throw storeFailure(`The log at ${file2} cannot be moved aside`, error2);
  }
  return aside;
}
function asideBeside(file2) {
  return beside(file2, ["damaged", "replaced"]);
}
function beside(file2, causes) {
  let prefixes2 = causes.map((cause) => `${basename(file2)}.${cause}-`);
  return namesIn(dirname3(file2)).filter((name) => prefixes2.some((prefix) => name.startsWith(prefix)) && !/-(wal|shm)$/.test(name)).toSorted().map((name) => join2(dirname3(file2), name));
}
function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
function stamp(now) {
  return now.toISOString().replace(/\.\d+Z$/, "Z").replaceAll(":", "");
}
async function freeName(name) {
  for (let n = 1; ; n++) {
    let candidate = n === 1 ? name : `${name}-${n}`;
    if (!await exists(candidate) && !await exists(`${candidate}-wal`)) return candidate;
  }
}
async function exists(path) {
  return stat(path).then(
    () => !0,
    () => !1
  );
}
async function moveIfThere(from, to) {
  try {
    await rename(from, to);
  } catch (error2) {
    if (error2.code !== "ENOENT") throw error2;
  }
}
async function syncFolder(path) {
  let folder = await open2(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

// packages/daemon/src/log/sqlite/given.ts
function givenAt(file2) {
  let files = [...existsSync2(file2) ? [file2] : [], ...asideBeside(file2)];
  return Math.max(0, ...files.map((each) => highestGiven(each)));
}

// packages/daemon/src/log/sqlite/header.ts
import { closeSync as closeSync2, fstatSync, openSync as openSync2, readSync, statSync } from "node:fs";

// packages/daemon/src/log/sqlite/migrations.ts
var migrations = [
  `CREATE TABLE streams (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     fence INTEGER NOT NULL,
     holder TEXT
   ) STRICT;
   CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     stream INTEGER NOT NULL,
     version INTEGER NOT NULL,
     type TEXT NOT NULL,
     type_version INTEGER NOT NULL,
     data TEXT NOT NULL,
     actor TEXT NOT NULL,
     trace_id TEXT,
     created TEXT NOT NULL
   ) STRICT;
   CREATE INDEX events_by_stream ON events (stream);
   CREATE TABLE projections (
     name TEXT PRIMARY KEY,
     version INTEGER NOT NULL,
     shape TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // Leases with a time: `beat` counts renewals, so that others see that there was one. Trimming: of a stream, the last
  // event removed; of the log, the seq up to which something may be missing. A projection that the present program
  // does not have stays as of `until`.
  `ALTER TABLE streams ADD COLUMN ttl INTEGER;
   ALTER TABLE streams ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE streams ADD COLUMN trimmed_seq INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE streams ADD COLUMN trimmed_version INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE projections ADD COLUMN until INTEGER;
   CREATE TABLE marks (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   INSERT INTO marks (name, seq) VALUES ('trimmed', 0);`,
  // Seqs that were given by another log in this place, and are not given again.
  "CREATE TABLE skips (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;",
  // The chain begins behind what is there, with a row that stands for all of it.
  `ALTER TABLE streams ADD COLUMN salt TEXT NOT NULL DEFAULT '';
   UPDATE streams SET salt = lower(hex(randomblob(16)));
   CREATE TABLE chain (seq INTEGER PRIMARY KEY, link TEXT NOT NULL, kept TEXT) STRICT;
   INSERT INTO chain (seq, link) SELECT max(
     (SELECT coalesce(max(seq), 0) FROM events),
     (SELECT coalesce(max(seq), 0) FROM marks),
     (SELECT coalesce(max(last), 0) FROM skips)
   ), '${genesis}';`
];
function migrate(database, file2) {
  let found = database.first("PRAGMA user_version")?.[0];
  if (requireKnownVersion(found, file2), found !== migrations.length) {
    for (let migration of migrations.slice(found)) database.define(migration);
    database.define(`PRAGMA user_version = ${migrations.length}`);
  }
}
function requireKnownVersion(found, file2) {
  if (found > migrations.length) throw tooNew(file2, found);
}
function tooNew(file2, found) {
  return new CorralError(
    "log.too-new",
    `The log at ${file2} has schema version ${found}; this program knows up to ${migrations.length}.`,
    { hint: "Start the newer Corral that wrote it, or point CORRAL_HOME at another folder." }
  );
}

// packages/daemon/src/log/sqlite/header.ts
function requireKnownSchema(file2) {
  let header = headerOf(file2);
  header !== void 0 && requireKnownVersion(header.schemaVersion, file2);
}
function headerOf(file2) {
  let header = Buffer.alloc(100), descriptor;
  try {
    return descriptor = openSync2(file2, "r"), readSync(descriptor, header) < header.length || header.toString("latin1", 0, 15) !== "SQLite format 3" ? void 0 : { promised: header.readUInt32BE(24) === header.readUInt32BE(92) ? pageSizeIn(header) * header.readUInt32BE(28) : 0, size: fstatSync(descriptor).size, schemaVersion: header.readInt32BE(60) };
  } catch {
    return;
  } finally {
    descriptor !== void 0 && closeSync2(descriptor);
  }
}
function pageSizeIn(header) {
  let written = header.readUInt16BE(16);
  return written === 1 ? 65536 : written;
}

// packages/daemon/src/log/sqlite/integrity.ts
async function integrityOf(file2) {
  let database;
  try {
    return database = new Database(file2, "examine"), Array.from(database.each("PRAGMA integrity_check"), ([answer]) => String(answer)).filter((answer) => answer !== "ok");
  } catch (error2) {
    if (isDamage(error2)) return [error2.message];
    throw storeFailure(`The log at ${file2} cannot be read`, error2);
  } finally {
    database?.close();
  }
}

// packages/daemon/src/log/sqlite/backup.ts
import { open as open3, rename as rename2, rm as rm2 } from "node:fs/promises";
import { dirname as dirname4 } from "node:path";
async function copyAtRest(file2, to) {
  return writeCopy(file2, to, "examine", () => {
  });
}
function contentsOf(database) {
  return { events: database.first("SELECT count(*) FROM events")?.[0], head: newestSeq(database) };
}
async function writeCopy(file2, to, access2, tell2) {
  let partial2 = `${to}.${process.pid}.partial`;
  try {
    await (await open3(partial2, "wx", 384)).close();
    let copied = await copySnapshot(new Database(file2, access2), partial2, tell2);
    return await sync(partial2), await rename2(partial2, to), await syncFolder(dirname4(to)), copied;
  } catch (error2) {
    throw await rm2(partial2, { force: !0 }), storeFailure(`The backup to ${to} failed`, error2);
  }
}
async function copySnapshot(source, to, tell2) {
  try {
    source.run("BEGIN");
    let told = tell2(source);
    return await source.copyTo(to), told;
  } finally {
    source.close();
  }
}
async function sync(path) {
  let handle = await open3(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// packages/daemon/src/log/sqlite/chain-file.ts
import { existsSync as existsSync3 } from "node:fs";
function openChainFile(file2) {
  if (!existsSync3(file2))
    throw new CorralError("not-found", `There is no file ${file2}`, { hint: "Name the file of a database" });
  requireKnownSchema(file2);
  let database;
  try {
    if (database = new Database(file2, "examine"), !hasChain(database)) throw unchained(file2);
    let opened = database;
    return {
      end: newestLink(opened).seq,
      chain: (range) => Promise.resolve().then(() => looked(file2, () => readChain(opened, range))),
      close: () => opened.close()
    };
  } catch (error2) {
    throw database?.close(), readFailure(`The chain of ${file2} cannot be read`, error2);
  }
}
function looked(file2, look) {
  try {
    return look();
  } catch (error2) {
    throw readFailure(`The chain of ${file2} cannot be read`, error2);
  }
}
function unchained(file2) {
  return new CorralError("log.unchained", `${file2} was written by a Corral that kept no chain`, {
    hint: "The chain begins when a newer Corral opens the database; nothing vouches for what is older"
  });
}

// packages/daemon/src/log/sqlite/export.ts
var batchCharacters = 256 * 1024;
async function exportSalvaged(file2, { after, stream }, write) {
  let items = salvage(file2), written = 0, lines = "";
  for (; ; ) {
    let { done, value } = await items.next();
    if (done === !0)
      return write(lines), { ...value, written };
    isWanted(value) && (isHole(value) || (written += 1), lines += `${JSON.stringify(value)}
`, !(lines.length < batchCharacters) && (write(lines), lines = ""));
  }
  function isWanted(item) {
    return isHole(item) ? item.to > after : item.seq > after && (stream === void 0 || item.stream === stream);
  }
}
function isHole(item) {
  return "kind" in item;
}

// packages/daemon/src/log/sqlite/restore.ts
import { existsSync as existsSync4 } from "node:fs";
import { rename as rename3, rm as rm3 } from "node:fs/promises";
import { dirname as dirname5 } from "node:path";
async function restore(backup2, file2) {
  await requireBackup(backup2);
  let copy = `${file2}.restoring`;
  for (let end of ["", "-wal", "-shm"]) await rm3(`${copy}${end}`, { force: !0 });
  await copyAtRest(backup2, copy);
  let copied = goOnBehind(copy, givenAt(file2)), before = existsSync4(file2) || existsSync4(`${file2}-wal`) ? await setAside(file2, /* @__PURE__ */ new Date(), "replaced") : void 0;
  return await rename3(copy, file2), await syncFolder(dirname5(file2)), { ...copied, before };
}
function goOnBehind(copy, given) {
  let database = new Database(copy);
  try {
    return inTransaction(database, () => {
      migrate(database, copy);
      let copied = contentsOf(database);
      return skipPast(database, given, copied.head), copied;
    });
  } catch (error2) {
    throw storeFailure(`The copy ${copy} cannot be written`, error2);
  } finally {
    database.close();
  }
}
async function requireBackup(backup2) {
  if (!existsSync4(backup2))
    throw new CorralError("not-found", `There is no file ${backup2}`, { hint: "Name a file that `corral backup` made" });
  requireKnownSchema(backup2);
  let [fault] = await integrityOf(backup2);
  if (fault !== void 0) throw damaged(`The backup ${backup2} is not whole`, new Error(fault));
  if (!isLog(backup2)) throw damaged(`${backup2} cannot be restored`, new Error("it is no backup of Corral's"));
}
function isLog(file2) {
  let database = new Database(file2, "examine");
  try {
    return database.first("SELECT 1 FROM sqlite_schema WHERE name = 'events'") !== void 0;
  } finally {
    database.close();
  }
}

// packages/daemon/src/database-main.ts
var { values, positionals } = parseArgs({
  options: {
    home: { type: "string" },
    after: { type: "string" },
    stream: { type: "string" },
    head: { type: "string" }
  },
  allowPositionals: !0
}), stdout = 1, progressStep = 1e4, [task = "", file = ""] = positionals;
try {
  tell(await perform());
} catch (error2) {
  let problem2 = error2 instanceof CorralError ? error2 : new CorralError("internal", String(error2), { cause: error2 });
  tell(problem2.toProblem()), process.exitCode = 1;
}
function perform() {
  switch (task) {
    case "check":
      return integrityOf(file).then((faults) => ({ faults }));
    case "salvage":
      return exportSalvaged(file, { after: Number(values.after ?? 0), stream: values.stream }, print);
    case "restore":
      return restoreInto(values.home ?? "");
    case "verify":
      return verify(file === "" ? openHome(values.home ?? "").database : file);
    default:
      throw new Error(`there is no task ${task}`);
  }
}
async function restoreInto(folder) {
  let home = openHome(folder), lock = lockHome(home);
  try {
    return await restore(file, home.database);
  } finally {
    lock.release();
  }
}
async function verify(database) {
  let chain = openChainFile(database);
  try {
    let told = 0, onProgress = (seq) => {
      seq - told < progressStep || (told = seq, print(`${seq} ${chain.end}
`));
    };
    return await verifyChain(chain, { head: values.head, onProgress });
  } finally {
    chain.close();
  }
}
function print(text) {
  let bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(stdout, bytes, written);
}
function tell(found) {
  process.stderr.write(`${JSON.stringify(found)}
`);
}
