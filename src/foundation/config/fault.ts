/** Faults of a configuration: which setting, where it is set, why it is not valid, and what to do. */
import { StartError } from '../start-error.ts'

/** Where a value comes from. `file` is the configuration file, `profile` the settings of the profile. */
export type Source = 'flag' | 'environment' | 'file' | 'profile' | 'default'

/**
 * Reasons are predicates such as `must be at most 65535`, remedies are sentences. Neither has a value of a
 * setting that is secret.
 */
export type Fault = {
  /** The setting; undefined for a fault of a whole file. */
  name?: string | undefined
  source: Source
  /** The path of the file with the source `file` or `profile`. */
  path?: string | undefined
  reason: string
  remedy?: string | undefined
}

const maxNamed = 8

/** A configuration is not valid. The message names all faults, in one line. */
export class ConfigError extends StartError {
  override name = 'StartError'
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    super(describeFaults(faults), 2)
    this.faults = faults
  }
}

function describeFaults(faults: readonly Fault[]): string {
  const named = faults.slice(0, maxNamed)
  const places = [...new Set(named.map(placeOf))]
  const sentences = places.map((place) => describePlace(named.filter((fault) => placeOf(fault) === place)))
  if (faults.length > maxNamed)
    sentences.push(`There are ${faults.length - maxNamed} more: agent config validate lists them.`)
  return sentences.join(' ')
}

function placeOf({ source, path }: Fault): string {
  if (source === 'file') return `The configuration file ${path}`
  return source === 'profile' ? `The settings file ${path}` : 'The configuration'
}

function describePlace(faults: readonly Fault[]): string {
  const place = placeOf(faults[0]!)
  const whole = faults.find(({ name }) => name === undefined)
  if (whole) return `${place} ${describeReason({ ...whole, remedy: remedyOf(whole) })}`
  const remedy = faults[0]!.source === 'profile' ? ' Correct the file, or remove it.' : ''
  return `${place} is not valid. ${faults.map((fault) => `${fault.name}: ${describeReason(fault)}`).join(' ')}${remedy}`
}

/** What to do about a fault, as a sentence. */
export function remedyOf({ name, source, remedy }: Fault): string {
  if (remedy !== undefined) return remedy
  if (source === 'file')
    return name === undefined ? 'Correct the file, or name another.' : 'Correct it, or remove the line.'
  if (source === 'profile')
    return name === undefined ? 'Correct the file, or remove it.' : 'Correct it, or remove the line.'
  return 'Correct or unset it.'
}

/** The reason and the remedy of a fault, as sentences without a subject. */
export function describeReason({ reason, remedy }: Fault): string {
  return remedy === undefined ? `${reason}.` : `${reason}. ${remedy}`
}
