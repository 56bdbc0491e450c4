/** The form of a template of credentials. */

/** A property of a template's schema, in the plain part of JSON Schema that can be registered. */
type TemplateProperty = {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'
  /** What people call the claim. */
  readonly title: string
  readonly [keyword: string]: unknown
}

export type TemplateFile = {
  /** What people call the credential; also the name of its type. */
  readonly title: string
  /** One line for people. */
  readonly summary: string
  readonly display: { readonly backgroundColor: string; readonly textColor: string }
  readonly schema: {
    readonly $schema: 'https://json-schema.org/draft/2020-12/schema'
    readonly title: string
    readonly type: 'object'
    readonly properties: Readonly<Record<string, TemplateProperty>>
    readonly required: readonly string[]
    readonly additionalProperties: false
  }
  /** Claims that satisfy the schema. */
  readonly example: Readonly<Record<string, unknown>>
}
