/** Credential configurations of documents: the document type, the namespaces of the claims, their CBOR types. */
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import { DocumentType, encodingsOf } from '../../credentials/formats/mdoc/document-type.ts'
import { optional } from '../../wallet/model.ts'
import { maxClaims, propertiesOf, type StoredClaims } from './claims.ts'
import type { ConfigurationRow } from './configurations.ts'

const Name = z.string().min(1).max(255)

/** The members of a configuration. */
export const documentMembers = {
  doctype: optional(Name).describe(
    'For `mso_mdoc`, required: the type of the document, such as `org.iso.18013.5.1.mDL` (extension).',
  ),
  namespaces: optional(z.union([Name, z.record(Name, Name)])).describe(
    'For `mso_mdoc` whose schema does not have an object for each namespace: the namespace of all claims, or that of each claim by its name (extension).',
  ),
}
type Given = { doctype?: string | undefined; namespaces?: string | Record<string, string> | undefined }

/** The type of a configuration. Undefined: another format. */
export function documentOf({ document }: Pick<ConfigurationRow, 'document'>): DocumentType | undefined {
  return document === null ? undefined : DocumentType.parse(JSON.parse(document))
}

/**
 * The document type, and the elements with their namespaces.
 *
 * @throws {Problem} 400 naming the member
 */
export function readDocument(
  schema: JsonObject,
  { doctype, namespaces }: Given,
): { document: DocumentType; claims: StoredClaims } {
  if (doctype === undefined)
    throw new Problem(
      'BadRequest',
      'doctype: is missing. A document has a type, such as org.iso.18013.5.1.mDL.',
    )
  const claims = namespaces === undefined ? elementsOf(schema) : flatOf(schema, namespaces)
  if (claims.length === 0)
    throw new Problem(
      'BadRequest',
      'schemaId: the schema describes no element. It has an object with elements for each namespace, or claims, whose namespace is in namespaces.',
    )
  const elements = claims.slice(0, maxClaims)
  const encodings = elements.flatMap(({ namespace, name }) => {
    const own = namespaces === undefined ? propertyOf(schema, namespace!) : schema
    return encodingsOf(propertyOf(own, name), [namespace!, name])
  })
  const grouped = namespaces !== undefined && {
    namespaces: Object.fromEntries(elements.map(({ name, namespace }) => [name, namespace!])),
  }
  return { document: { docType: doctype, ...grouped, encodings }, claims: elements }
}

function propertyOf(schema: unknown, name: string): unknown {
  const { properties } = isJsonObject(schema) ? schema : {}
  return isJsonObject(properties) ? properties[name] : undefined
}

/** The elements of a schema with an object for each namespace. */
function elementsOf({ properties }: JsonObject): StoredClaims {
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([namespace, elements]) =>
    propertiesOf(elements).map((claim) => ({ ...claim, namespace })),
  )
}

function flatOf(schema: JsonObject, namespaces: string | Record<string, string>): StoredClaims {
  const named = new Map(typeof namespaces === 'string' ? [] : Object.entries(namespaces))
  return propertiesOf(schema).map((claim) => {
    const namespace = typeof namespaces === 'string' ? namespaces : named.get(claim.name)
    if (namespace === undefined)
      throw new Problem('BadRequest', `namespaces.${claim.name}: is missing, and the schema has this claim.`)
    return { ...claim, namespace }
  })
}
