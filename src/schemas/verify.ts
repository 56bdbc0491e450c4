/** What can be verified of a credential schema: that it can be used, who has authored it, and that claims fit it (service §1.7, §2.1). */
import { z } from 'zod'
import { isTemporary, Problem } from '../base/problem.ts'
import { Did, type Resolve } from '../did/document.ts'
import { isAnonCreds, toJsonSchema } from './anoncreds.ts'
import { checkClaims, checkUsable } from './claims.ts'
import { findExcess, isJsonObject, type JsonObject } from './limits.ts'
import { findProofFault, Proof } from './proof.ts'
import { schemaLimits } from './validator.ts'

/** What is to be verified: a schema by its URL, or a schema or a registry's record of one as it is; and claims, if there are any to check. */
export const SchemaVerification = z
  .object({
    schemaId: z
      .string()
      .min(1)
      .max(70_000)
      .nullish()
      .describe('URL or DID URL of the schema, or of a registry’s record of it.'),
    schema: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('The schema itself, or a registry’s record of it.'),
    claims: z.record(z.string(), z.unknown()).nullish().describe('Claims that must fit the schema.'),
  })
  .refine(({ schemaId, schema }) => (schemaId == null) !== (schema == null), {
    path: ['schemaId'],
    message: 'must be given, or `schema` in its place, and not both',
  })
  .meta({ id: 'SchemaVerificationRequest' })
export type SchemaVerification = z.output<typeof SchemaVerification>

const Result = z.object({
  verification: z.enum(['SchemaCheck', 'AuthorshipVerification', 'SubjectVerification']),
  success: z.boolean(),
  detail: z.string().optional().describe('Why not.'),
})

export const SchemaVerificationResult = z
  .object({
    schemaId: z.string().optional(),
    author: z.string().optional().describe('Who is said to be the author.'),
    isSigned: z.boolean().describe('Whether there is a proof of authorship at all.'),
    result: z.array(Result).describe('`SubjectVerification` only where claims were sent.'),
  })
  .meta({ id: 'SchemaVerificationResponse' })
export type SchemaVerificationResult = z.output<typeof SchemaVerificationResult>

export type VerificationSources = {
  /** @throws {Problem} when what a URL stands for cannot be had. */
  readSchema: (url: string) => Promise<{ schema: JsonObject; record?: JsonObject }>
  resolve: Resolve
}

/** What a record must say for its proof to be verified. */
const SignedRecord = z.object({
  type: z.string(),
  name: z.string(),
  version: z.string(),
  author: Did,
  schema: z.record(z.string(), z.unknown()),
  proof: Proof.optional(),
})

/**
 * Verifies a schema.
 *
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError` when it cannot be had, `error:ServiceUnavailable` when the author's
 * DID cannot be resolved for now.
 */
export async function verifySchema(
  { schemaId, schema: sent, claims }: SchemaVerification,
  { readSchema, resolve }: VerificationSources,
): Promise<SchemaVerificationResult> {
  const { schema, record } = sent == null ? await readSchema(schemaId!) : unwrap(sent)
  const usable = await outcomeOf(() => checkUsable(toClaimsSchema(schema)))
  const fits =
    claims == null
      ? []
      : [
          {
            verification: 'SubjectVerification' as const,
            ...(await outcomeOf(() => checkClaims(claims, toClaimsSchema(schema)))),
          },
        ]
  const authorship = await verifyAuthorship(record, resolve)
  return {
    ...(schemaId != null && { schemaId }),
    ...(typeof record?.['author'] === 'string' && { author: record['author'] }),
    isSigned: isJsonObject(record?.['proof']),
    result: [
      { verification: 'SchemaCheck', ...usable },
      { verification: 'AuthorshipVerification', ...authorship },
      ...fits,
    ],
  }
}

type Outcome = { success: boolean; detail?: string }

async function verifyAuthorship(record: JsonObject | undefined, resolve: Resolve): Promise<Outcome> {
  if (!record)
    return {
      success: false,
      detail: 'This is the schema alone; its author and proof are in the record of its registry.',
    }
  const { data, error } = SignedRecord.safeParse(record)
  if (error)
    return { success: false, detail: `${error.issues[0]!.path.join('.')}: ${error.issues[0]!.message}` }
  const excess = findExcess(data.schema, schemaLimits)
  if (excess !== undefined) return { success: false, detail: `schema: ${excess}` }
  if (!data.proof) return { success: false, detail: 'The schema is not signed.' }
  const fault = await findProofFault(data, data.proof, resolve)
  return fault === undefined ? { success: true } : { success: false, detail: `proof.${fault}` }
}

function unwrap(sent: JsonObject): { schema: JsonObject; record?: JsonObject } {
  return isJsonObject(sent['schema']) && sent['$schema'] === undefined
    ? { schema: sent['schema'], record: sent }
    : { schema: sent }
}

function toClaimsSchema(schema: JsonObject): JsonObject {
  return isAnonCreds(schema) ? toJsonSchema(schema) : schema
}

/** A problem of the schema or the claims is an answer; any other is none. */
async function outcomeOf(check: () => Promise<void>): Promise<Outcome> {
  try {
    await check()
    return { success: true }
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    return { success: false, detail: error.message }
  }
}
