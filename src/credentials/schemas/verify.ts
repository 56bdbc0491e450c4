/** Verifies a credential schema: that it can be used, its proof of authorship, and claims against it. */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { Did, type Resolve } from '../../did/document.ts'
import { checkClaims, checkUsable } from './claims.ts'
import { toClaimsSchema, unwrap, type Dereferenced } from './dereference.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { findExcess } from './limits.ts'
import { findProofFault, Proof } from './proof.ts'
import { schemaLimits } from './validator.ts'

/** A schema by URL, or a schema or registry record by value; and optional claims. */
export const SchemaVerification = z
  .object({
    schemaId: z
      .string()
      .min(1)
      .max(70_000)
      .nullish()
      .describe('URL or DID URL of the schema or of its registry record.'),
    schema: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('The schema itself, or its registry record.'),
    claims: z.record(z.string(), z.unknown()).nullish().describe('Claims that must satisfy the schema.'),
  })
  .refine(({ schemaId, schema }) => (schemaId == null) !== (schema == null), {
    path: ['schemaId'],
    message: 'must be set, or `schema` instead; not both',
  })
  .meta({ id: 'SchemaVerificationRequest' })
export type SchemaVerification = z.output<typeof SchemaVerification>

const Result = z.object({
  verification: z.enum(['SchemaCheck', 'AuthorshipVerification', 'SubjectVerification']),
  success: z.boolean(),
  detail: z.string().optional().describe('The reason for the failure.'),
})

export const SchemaVerificationResult = z
  .object({
    schemaId: z.string().optional(),
    author: z.string().optional().describe('The author that the record names.'),
    isSigned: z.boolean().describe('Whether the record has a proof of authorship.'),
    result: z.array(Result).describe('`SubjectVerification` is present if claims were sent.'),
  })
  .meta({ id: 'SchemaVerificationResponse' })
export type SchemaVerificationResult = z.output<typeof SchemaVerificationResult>

export type VerificationSources = {
  /** @throws {Problem} when the schema cannot be read. */
  readSchema: (url: string) => Promise<Dereferenced>
  resolve: Resolve
}

/** The members of a record that its proof covers. */
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
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError` when the schema cannot be read,
 *   `error:ServiceUnavailable` when the author's DID cannot be resolved for now.
 */
export async function verifySchema(
  { schemaId, schema: sent, claims }: SchemaVerification,
  { readSchema, resolve }: VerificationSources,
): Promise<SchemaVerificationResult> {
  const { schema, record } = sent == null ? await readSchema(schemaId!) : unwrap(sent)
  const result = [
    { verification: 'SchemaCheck' as const, ...(await toResult(() => checkUsable(toClaimsSchema(schema)))) },
    { verification: 'AuthorshipVerification' as const, ...(await verifyAuthorship(record, resolve)) },
  ]
  const checkSubject = () => checkClaims(claims, toClaimsSchema(schema))
  return {
    ...(schemaId != null && { schemaId }),
    ...(typeof record?.['author'] === 'string' && { author: record['author'] }),
    isSigned: isJsonObject(record?.['proof']),
    result:
      claims == null
        ? result
        : [...result, { verification: 'SubjectVerification', ...(await toResult(checkSubject)) }],
  }
}

type CheckResult = { success: boolean; detail?: string }

async function verifyAuthorship(record: JsonObject | undefined, resolve: Resolve): Promise<CheckResult> {
  const detail = await findAuthorshipFault(record, resolve)
  return detail === undefined ? { success: true } : { success: false, detail }
}

async function findAuthorshipFault(
  record: JsonObject | undefined,
  resolve: Resolve,
): Promise<string | undefined> {
  if (!record) return 'The schema was sent without its registry record, which has the author and the proof.'
  const { data, error } = SignedRecord.safeParse(record)
  if (error) return firstFault(error)
  const excess = findExcess(data.schema, schemaLimits)
  if (excess !== undefined) return `schema: ${excess}`
  if (!data.proof) return 'The schema is not signed.'
  const fault = await findProofFault(data, data.proof, resolve)
  return fault && `proof.${fault}`
}

/** Converts a problem of the schema or the claims to a result. Temporary problems are thrown. */
async function toResult(check: () => Promise<void>): Promise<CheckResult> {
  try {
    await check()
    return { success: true }
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    return { success: false, detail: error.message }
  }
}
