/** Asking which credentials satisfy a presentation definition (ours): those that are sent along, or those that the wallet holds. */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import type { Db } from '../storage/database.ts'
import { optional } from '../wallet/model.ts'
import { toCandidate } from './candidates.ts'
import { evaluate, type Candidate } from './evaluate.ts'
import type { PresentationDefinition } from './presentation-definition.ts'

export const EvaluationRequest = z
  .object({
    credentials: optional(z.array(z.string().min(1)).max(100)).describe(
      'Compact JWTs or SD-JWTs; the credentials of the wallet when left out.',
    ),
  })
  .meta({ id: 'PresentationDefinitionEvaluationRequest' })
export type EvaluationRequest = z.output<typeof EvaluationRequest>

export const Evaluation = z
  .object({
    satisfied: z.boolean().describe('True when there is a credential for every input descriptor.'),
    matches: z.array(
      z.object({
        inputDescriptorId: z.string(),
        credentials: z
          .array(z.string())
          .describe('Credentials as they were sent, or record ids of the wallet’s.'),
      }),
    ),
  })
  .meta({ id: 'PresentationDefinitionEvaluation' })
export type Evaluation = z.infer<typeof Evaluation>

/**
 * Compares credentials with a definition by what they say; nothing of them is verified.
 *
 * @throws {Problem} 400 for a credential that was sent and cannot be read, 422 when it takes too much work
 */
export async function evaluateFor(
  db: Db,
  definition: PresentationDefinition,
  { credentials }: EvaluationRequest,
): Promise<Evaluation> {
  const candidates = credentials === undefined ? await ofWallet(db) : credentials.map(asSent)
  const matches = await evaluate(definition, candidates)
  return { satisfied: matches.every((match) => match.credentials.length > 0), matches }
}

function asSent(credential: string, index: number): Candidate {
  const candidate = readCandidate(credential, credential)
  if ('refusal' in candidate) throw new Problem('BadRequest', `credentials.${index}: ${candidate.refusal}`)
  return candidate
}

async function ofWallet(db: Db): Promise<Candidate[]> {
  const held = db
    .selectFrom('credential')
    .select(['id', 'credential'])
    .where('format', 'in', ['JWT', 'SDJWT'])
  const rows = await held.orderBy('created_at').orderBy('id').execute()
  return rows.flatMap(({ id, credential }) => {
    const candidate = readCandidate(id, credential)
    return 'refusal' in candidate ? [] : candidate
  })
}

function readCandidate(id: string, credential: string): Candidate | { refusal: string } {
  try {
    return toCandidate(id, credential)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    return { refusal: reasonOf(error) }
  }
}
