/**
 * Evaluates presentation definitions (DIF Presentation Exchange 2.1.1) against credentials. Verifies no
 * signature.
 */
import { type Checkpoint, createTimeLimit } from '../../foundation/checkpoint.ts'
import { Problem } from '../../foundation/problem.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { formatOfText, formats } from '../../credentials/formats/index.ts'
import { traitsOf } from '../../definitions/format-names.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { checkUsable, satisfies } from '../../credentials/schemas/claims.ts'
import { findExcess } from '../../credentials/schemas/limits.ts'
import { compilePath } from './json-path.ts'
import type {
  ClaimFormat,
  Field,
  InputDescriptor,
  PresentationDefinition,
} from './presentation-definition.ts'

/** A credential that is compared with a definition. */
export type Candidate = {
  /** Identifies the credential in the result. */
  id: string
  /** Names of the format in the DIF registry. */
  formats: readonly string[]
  /** Algorithms by the member of a format that constrains them, such as `alg`. */
  algorithms: Readonly<Record<string, string>>
  /** The document that paths select from. */
  claims: JsonObject
}

/** The candidates that satisfy an input descriptor, in their order. */
export type Match = { inputDescriptorId: string; credentials: string[] }

/** The time limit of an evaluation, in milliseconds. */
const limitMs = 5_000

/**
 * Finds the candidates that satisfy each input descriptor (DIF Presentation Exchange 2.1.1 §8, "Input
 * Evaluation"). Verifies no signature.
 *
 * @throws {Problem} `UnprocessableEntity` when it takes too long, `error:CredentialSchemaError:InvalidSchema`
 * for a filter that is not a JSON Schema
 */
export async function evaluate(
  { input_descriptors, format }: Pick<PresentationDefinition, 'input_descriptors' | 'format'>,
  candidates: readonly Candidate[],
  timeMs: number = limitMs,
): Promise<Match[]> {
  const checkpoint = createTimeLimit(timeMs, tookTooLong)
  const matches: Match[] = []
  for (const descriptor of input_descriptors) {
    const match: Match = { inputDescriptorId: descriptor.id, credentials: [] }
    for (const candidate of candidates) {
      if (await hasFields(candidate, descriptor, format, checkpoint)) match.credentials.push(candidate.id)
    }
    matches.push(match)
  }
  return matches
}

async function hasFields(
  candidate: Candidate,
  descriptor: InputDescriptor,
  format: ClaimFormat | undefined,
  checkpoint: Checkpoint,
) {
  // The formats of a descriptor override those of the definition (§5.1, §5.2).
  if (!hasFormat(candidate, descriptor.format ?? format)) return false
  for (const field of descriptor.constraints.fields) {
    if (!(await hasField(candidate.claims, field, checkpoint))) return false
  }
  return true
}

function hasFormat({ formats, algorithms }: Candidate, accepted: ClaimFormat | undefined): boolean {
  if (accepted === undefined) return true
  return formats.some((name) => {
    const terms = Object.hasOwn(accepted, name)
      ? (accepted[name] as Record<string, string[] | undefined> | undefined)
      : undefined
    return (
      terms !== undefined &&
      Object.entries(algorithms).every(([term, algorithm]) => terms[term]?.includes(algorithm) ?? true)
    )
  })
}

/** One of the selected values must satisfy the filter. An optional field may be absent. */
async function hasField(
  claims: JsonObject,
  { path: paths, filter, optional }: Field,
  checkpoint: Checkpoint,
): Promise<boolean> {
  let isPresent = false
  for (const path of paths) {
    await checkpoint()
    const found = compilePath(path)(claims)
    if (found && (filter === undefined || (await satisfies(found.value, to2020(filter))))) return true
    isPresent ||= found !== undefined
  }
  return !isPresent && optional === true
}

function tookTooLong(): Problem {
  return new Problem(
    'UnprocessableEntity',
    'Finding the credentials takes too long; simplify the definition, or send fewer credentials.',
  )
}

/**
 * Presentation Exchange is written for draft 7. The keywords of filters have the same meaning in draft
 * 2020-12.
 */
const draft7 = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/

/**
 * Checks that a filter is a usable JSON Schema.
 *
 * @throws {Problem} `error:CredentialSchemaError:InvalidSchema` with the reason.
 */
export function checkFilter(filter: JsonObject): Promise<void> {
  return checkUsable(to2020(filter))
}

function to2020(filter: JsonObject): JsonObject {
  const { $schema, ...rest } = filter
  return typeof $schema === 'string' && draft7.test($schema) ? rest : filter
}

/** Limits of credentials in which paths are evaluated. Long texts, such as pictures, cost no time. */
const credentialLimits = { depth: 64, values: 2_500, characters: 1_048_576 }

/**
 * Prepares a credential.
 *
 * @throws {VerificationError} when the credential cannot be decoded or exceeds the limits
 */
export function toCandidate(id: string, credential: string): Candidate {
  const format = formatOfText(credential)
  const { algorithms, claims, measured } = formats[format].partsOf(credential).toCandidate()
  checkSize(measured)
  return { id, formats: traitsOf(format).definition, algorithms, claims }
}

function checkSize(claims: JsonObject): void {
  const excess = findExcess(claims, credentialLimits)
  if (excess !== undefined) throw new VerificationError('too-large', `The credential ${excess}`)
}
