/** The presentation definitions of a wallet. Anyone who knows the random id of a definition may read it. */
import { sql } from 'kysely'
import * as z from 'zod'
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { tokenFormats } from '../../definitions/format-names.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import type { AgentDb, Db } from '../../foundation/storage/database.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { optional } from '../model.ts'
import { checkFilter, evaluate, toCandidate, type Candidate } from './evaluate.ts'
import { PresentationDefinition, type CreatePresentationDefinition } from './presentation-definition.ts'

/**
 * Stores a definition under a new id.
 *
 * @throws {Problem} 400 with the path of a filter that is not a JSON Schema.
 */
export async function createDefinition(
  db: AgentDb,
  walletId: string,
  content: CreatePresentationDefinition,
): Promise<PresentationDefinition> {
  await checkFilters(content)
  // The id is the only protection, so it must be unguessable.
  const definition = { id: randomId(), ...content }
  const row = {
    id: definition.id,
    wallet_id: walletId,
    definition: JSON.stringify(definition),
    created_at: new Date().toISOString(),
  }
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from presentation_definition)`
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, walletId)
    await tx
      .insertInto('presentation_definition')
      .values({ ...row, sequence })
      .execute()
  })
  return toDefinition(row)
}

/** Gets a definition of any wallet. @throws {Problem} `NotFound` */
export async function getDefinition(db: AgentDb, id: string): Promise<PresentationDefinition> {
  const row = await db
    .selectFrom('presentation_definition')
    .select('definition')
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw new Problem('NotFound', `There is no presentation definition ${id}.`)
  return toDefinition(row)
}

/** A page of a wallet's definitions in order of creation, and the number of all. */
export async function listDefinitions(
  db: AgentDb,
  walletId: string,
  paging: Paging,
): Promise<{ definitions: PresentationDefinition[]; total: number }> {
  const own = db.selectFrom('presentation_definition').where('wallet_id', '=', walletId)
  const { rows, total } = await pageOf(own.select('definition'), ['sequence'], paging)
  return { definitions: rows.map(toDefinition), total }
}

async function checkFilters({ input_descriptors }: CreatePresentationDefinition): Promise<void> {
  for (const [index, { constraints }] of input_descriptors.entries()) {
    for (const [fieldIndex, { filter }] of constraints.fields.entries()) {
      if (filter === undefined) continue
      await checkFilter(filter).catch((error: unknown) => {
        if (!(error instanceof Problem) || error.status !== 400) throw error
        const path = `input_descriptors.${index}.constraints.fields.${fieldIndex}.filter`
        throw new Problem(
          'error:RequestBodyDecodingFailure',
          `${path}: is not a usable JSON Schema. ${error.message}`,
          { cause: error },
        )
      })
    }
  }
}

function toDefinition({ definition }: { definition: string }): PresentationDefinition {
  return PresentationDefinition.parse(JSON.parse(definition))
}

export const EvaluationRequest = z
  .object({
    credentials: optional(z.array(z.string().min(1)).max(100)).describe(
      'Compact JWTs or SD-JWTs. Default: the credentials of the wallet.',
    ),
  })
  .meta({ id: 'PresentationDefinitionEvaluationRequest' })
export type EvaluationRequest = z.output<typeof EvaluationRequest>

export const Evaluation = z
  .object({
    satisfied: z.boolean().describe('True if there is a credential for every input descriptor.'),
    matches: z.array(
      z.object({
        inputDescriptorId: z.string(),
        credentials: z
          .array(z.string())
          .describe('The credentials as sent, or the record ids of the wallet’s credentials.'),
      }),
    ),
  })
  .meta({ id: 'PresentationDefinitionEvaluation' })
export type Evaluation = z.infer<typeof Evaluation>

/**
 * Finds the credentials that satisfy a definition: those in the request, or those of the wallet. Verifies no
 * signature.
 *
 * @throws {Problem} 400 for a credential in the request that cannot be decoded, 422 when the evaluation takes
 * too long
 */
export async function evaluateFor(
  db: Db,
  definition: PresentationDefinition,
  { credentials }: EvaluationRequest,
): Promise<Evaluation> {
  const candidates = credentials === undefined ? await readWallet(db) : credentials.map(parseCredential)
  const matches = await evaluate(definition, candidates)
  return { satisfied: matches.every((match) => match.credentials.length > 0), matches }
}

function parseCredential(credential: string, index: number): Candidate {
  try {
    return toCandidate(credential, credential)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    throw new Problem('BadRequest', `credentials.${index}: ${reasonOf(error)}`)
  }
}

async function readWallet(db: Db): Promise<Candidate[]> {
  const held = db.selectFrom('credential').select(['id', 'credential']).where('format', 'in', tokenFormats)
  const rows = await held.orderBy('created_at').orderBy('id').execute()
  return rows.flatMap(({ id, credential }) => {
    try {
      return [toCandidate(id, credential)]
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error
      return []
    }
  })
}
