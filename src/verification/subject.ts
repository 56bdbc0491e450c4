/** A credential's claims against the schemas that it names. */
import { isTemporary, Problem } from '../base/problem.ts'
import { isJsonObject, type JsonObject } from '../credentials/json.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { checkClaims, checkUsable } from '../schemas/claims.ts'
import type { Examined } from './token.ts'

/** The JSON schema that a URL stands for. @throws {Problem} when it cannot be had. */
export type GetSchema = (url: string) => Promise<unknown>

/** Schemas that are read for one credential: each may be a request to an address that a stranger chose. */
const maxSchemas = 10

/**
 * Checks that every schema of a credential can be had and used.
 *
 * @throws {VerificationError} when it names none or too many, or one of them cannot
 * @throws {Problem} `error:ServiceUnavailable` when that cannot be said for now
 */
export async function checkSchemas(credential: Examined, getSchema: GetSchema): Promise<void> {
  for (const url of schemasOf(credential)) await orRefuse(async () => checkUsable(await read(url, getSchema)))
}

/**
 * Checks the subject against every schema, in any of the ways that a schema may mean it. What an SD-JWT does not show is not there.
 *
 * @throws {VerificationError} when it names none or too many, or the claims do not fit one
 * @throws {Problem} `error:ServiceUnavailable` when that cannot be said for now
 */
export async function checkSubject(credential: Examined, getSchema: GetSchema): Promise<void> {
  const { subjects } = credential
  for (const url of schemasOf(credential)) {
    await orRefuse(async () => {
      const schema = await read(url, getSchema)
      for (const subject of subjects.slice(0, -1)) if (await fits(subject, schema)) return
      await checkClaims(subjects.at(-1), schema)
    })
  }
}

function schemasOf({ schemas }: Examined): string[] {
  const urls = [...new Set(schemas)]
  if (urls.length > 0 && urls.length <= maxSchemas) return urls
  throw new VerificationError(
    'schema-not-accepted',
    `The credential names ${urls.length} schemas, of 1 to ${maxSchemas}`,
  )
}

/** The type of an SD-JWT may lead to a description of that type (SD-JWT VC §4) instead: anything would fit that, were it taken for a schema. */
async function read(url: string, getSchema: GetSchema): Promise<unknown> {
  const schema = await getSchema(url)
  if (isJsonObject(schema) && typeof schema['vct'] === 'string')
    throw new VerificationError(
      'schema-not-accepted',
      `There is the description of a type at ${url}, and no schema`,
    )
  return schema
}

async function fits(claims: JsonObject, schema: unknown): Promise<boolean> {
  try {
    await checkClaims(claims, schema)
    return true
  } catch (error) {
    if (
      error instanceof Problem &&
      error.type === 'error:CredentialSchemaError:CredentialSchemaValidationError'
    )
      return false
    throw error
  }
}

/** A schema that is not there, or not one, is a credential that does not pass, unless the reason is one that may pass. */
async function orRefuse(check: () => Promise<unknown>): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    throw new VerificationError('schema-not-accepted', error.message, { cause: error })
  }
}
