/** The form of a template of credentials. */

/** A grey pixel as JPEG, base64url: the portrait of examples. */
export const portrait =
  '_9j_4AAQSkZJRgABAQEASABIAAD_2wBDAP__________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________wgALCAABAAEBAREA_8QAFBABAAAAAAAAAAAAAAAAAAAAAP_aAAgBAQABPxA'

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
  /** Of an mdoc: its type, and the namespace of its claims. The credentials of others are SD-JWT VCs. */
  readonly document?: { readonly docType: string; readonly namespace: string }
  /** Claims that satisfy the schema. */
  readonly example: Readonly<Record<string, unknown>>
}
