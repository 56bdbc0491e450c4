/** Credential definitions as flags name them, and as they come: in an envelope, or not. */
import type { Answer } from '../client/answer.ts'
import { open } from './did-url.ts'
import { isGuid, schemaUrl } from './schema.ts'

type Definition = Answer<'GET /credential-definition-registry/definitions/{guid}'>
type Envelope = Answer<'GET /credential-definition-registry/definitions/did-url/{guid}'>

/** The definition in an envelope; one that is in none is itself. */
export function openDefinition(answer: Definition | Envelope): Definition {
  return 'resource' in answer ? (open(answer) as Definition) : answer
}

/** The URL of an AnonCreds schema alone, by which definitions and credentials name it; a guid is one of the daemon at `baseUrl`. */
export function anonCredsSchemaUrl(schema: string, baseUrl: string): string {
  return isGuid(schema) ? `${schemaUrl(schema, baseUrl)}/schema` : schema
}

/** What of a definition everybody wants to know. */
export function definitionFields(definition: Definition) {
  const { guid, name, version, tag, state, author, schemaId, description } = definition
  return [
    ['definition', guid],
    ['name', `${name} ${version}`],
    ['description', description || undefined],
    ['tag', tag],
    ['state', state],
    ['author', author],
    ['schema', schemaId],
  ] as const
}
