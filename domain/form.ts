/**
 * Parley's own closed form model (design §6). A server's schema is turned into it by the gate and is never compiled or rendered raw;
 * the consent page, the API and the worker all work from this model. Text is the server's, exact and untrusted.
 */

export interface Option {
  readonly value: string;
  /** What is shown; the value when the server gave no title. */
  readonly title: string;
}

export interface FieldBase {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
  /** `secret`: it looks as if it asked for a password, a key, a token or card data, and the policy lets it pass. */
  readonly warning?: 'secret';
}

export const stringFormats = ['email', 'uri', 'date', 'date-time'] as const;
/** A date-time is RFC 3339 with `Z` or a numeric offset. */
export type StringFormat = (typeof stringFormats)[number];

export interface StringField extends FieldBase {
  readonly type: 'string';
  readonly format?: StringFormat;
  /** Unicode code points, as JSON Schema counts. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: string;
}

export interface NumberField extends FieldBase {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface BooleanField extends FieldBase {
  readonly type: 'boolean';
  readonly default?: boolean;
}

export interface SelectField extends FieldBase {
  readonly type: 'select';
  readonly options: readonly Option[];
  readonly default?: string;
}

export interface MultiSelectField extends FieldBase {
  readonly type: 'multiselect';
  readonly options: readonly Option[];
  /** An answer is a set of options: none twice. */
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** Defaults are only ever prefilled by a page; Parley never adds one to an answer. */
export type FormField = StringField | NumberField | BooleanField | SelectField | MultiSelectField;

/** One entry of `inputRequests`, gated. `key` is the server's and may be any string, `__proto__` included: never use it to index a plain object. */
export interface FormInput {
  readonly key: string;
  readonly kind: 'form';
  readonly message: string;
  readonly fields: readonly FormField[];
}

export const urlNotes = ['punycode', 'mixed_script'] as const;
/** What a person should know of a host's name: it is not spelled in ASCII, or it mixes writing systems within one word. */
export type UrlNote = (typeof urlNotes)[number];

/** A URL that a person is asked to open. An accept is their consent to that, and no proof that they have finished there. */
export interface UrlInput {
  readonly key: string;
  readonly kind: 'url';
  readonly message: string;
  /** Exactly as the server sent it. */
  readonly url: string;
  /** Where it leads: name in ASCII, with the port if it is not the scheme's own. */
  readonly host: string;
  /** How the name of the host reads, where that is not how it is spelled in ASCII. */
  readonly unicodeHost?: string;
  readonly notes: readonly UrlNote[];
}

/** Text of a conversation with a model, one entry for each block. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** What a server would ask a model. A person answers with the message they want to be the model's; Parley calls none. */
export interface SamplingInput {
  readonly key: string;
  readonly kind: 'sampling';
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  /** Names of models that the server would like, the best first. */
  readonly modelHints?: readonly string[];
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
}

/** The kinds of question a person can be shown. */
export type RoundInput = FormInput | UrlInput | SamplingInput;
