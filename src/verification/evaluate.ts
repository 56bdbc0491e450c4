/** Which credentials satisfy a presentation definition (DIF Presentation Exchange 2.1.1 §8, "Input Evaluation"). Nothing is verified here. */
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../base/problem.ts'
import type { JsonObject } from '../credentials/json.ts'
import { fitsFilter } from './filter.ts'
import { compilePath } from './json-path.ts'
import type {
  ClaimFormat,
  Field,
  InputDescriptor,
  PresentationDefinition,
} from './presentation-definition.ts'

/** A credential that may be shown. */
export type Candidate = {
  /** Names it in the answer. */
  id: string
  /** What its format is called: a JWT VC is `jwt_vc` and `jwt` (DIF's registry), an SD-JWT VC `dc+sd-jwt`, and `vc+sd-jwt` as of old. */
  formats: readonly string[]
  /** What it is signed with, by the term with which a format constrains that, such as `alg`. */
  algorithms: Readonly<Record<string, string>>
  /** What paths look into. */
  claims: JsonObject
}

/** The candidates that satisfy an input descriptor, in the order given. */
export type Match = { inputDescriptorId: string; credentials: string[] }

/** Milliseconds for the whole, of which a definition that people write needs few for each credential; and between two turns of others. */
const limits = { timeMs: 5_000, turnMs: 10 }

/**
 * Finds for each input descriptor the candidates that have what it asks for.
 *
 * @throws {Problem} `UnprocessableEntity` when that takes too much work, `error:CredentialSchemaError:InvalidSchema` for a filter that is no JSON schema
 */
export async function evaluate(
  { input_descriptors, format }: Pick<PresentationDefinition, 'input_descriptors' | 'format'>,
  candidates: readonly Candidate[],
  timeMs: number = limits.timeMs,
): Promise<Match[]> {
  const breathe = breather(timeMs)
  const matches: Match[] = []
  for (const descriptor of input_descriptors) {
    const match: Match = { inputDescriptorId: descriptor.id, credentials: [] }
    for (const candidate of candidates) {
      if (await satisfies(candidate, descriptor, format, breathe)) match.credentials.push(candidate.id)
    }
    matches.push(match)
  }
  return matches
}

/** Lets others have their turn, if it is time for that. @throws {Problem} when the time is over */
type Breathe = () => Promise<void>

function breather(timeMs: number): Breathe {
  let last = performance.now()
  const end = last + timeMs
  return async () => {
    if (performance.now() >= end) throw tooMuch()
    if (performance.now() - last < limits.turnMs) return
    await setImmediate()
    last = performance.now()
  }
}

async function satisfies(
  candidate: Candidate,
  descriptor: InputDescriptor,
  format: ClaimFormat | undefined,
  breathe: Breathe,
) {
  // A descriptor's own formats stand before those of the whole (§5.1, §5.2).
  if (!hasFormat(candidate, descriptor.format ?? format)) return false
  for (const field of descriptor.constraints.fields) {
    if (!(await hasField(candidate.claims, field, breathe))) return false
  }
  return true
}

function hasFormat({ formats, algorithms }: Candidate, wanted: ClaimFormat | undefined): boolean {
  if (wanted === undefined) return true
  return formats.some((name) => {
    const terms = Object.hasOwn(wanted, name)
      ? (wanted[name] as Record<string, string[] | undefined> | undefined)
      : undefined
    return (
      terms !== undefined &&
      Object.entries(algorithms).every(([term, algorithm]) => terms[term]?.includes(algorithm) ?? true)
    )
  })
}

/** Of the paths that find something, the first whose value fits decides; an optional field need not be there, but must fit if it is. */
async function hasField(
  claims: JsonObject,
  { path: paths, filter, optional }: Field,
  breathe: Breathe,
): Promise<boolean> {
  let isThere = false
  for (const path of paths) {
    await breathe()
    const found = compilePath(path)(claims)
    if (found && (filter === undefined || (await fitsFilter(found.value, filter)))) return true
    isThere ||= found !== undefined
  }
  return !isThere && optional === true
}

function tooMuch(): Problem {
  return new Problem(
    'UnprocessableEntity',
    'Finding the credentials takes too much work; simplify the definition, or ask about fewer credentials.',
  )
}
