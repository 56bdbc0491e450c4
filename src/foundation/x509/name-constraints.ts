/**
 * Name constraints (RFC 5280 §4.2.1.10) of DNS names and URIs. Both name the host of an issuer, so a
 * constraint of one form holds for names of the other, unless their own form is constrained too. A
 * certificate with a name of another form, for which an authority has a constraint, is refused.
 */
import { isIP } from 'node:net'
import { AsnConvert } from '@peculiar/asn1-schema'
import { type GeneralName, NameConstraints } from '@peculiar/asn1-x509'
import { type Certificate, isSelfIssued, nameOf } from './certificate.ts'
import { ChainError } from './chain-error.ts'

const id = '2.5.29.30'

/** Comparisons of names with constraints in one path. Certificates of 16 kB could have many millions. */
const maxComparisons = 100_000

/**
 * Checks the names of a path, the end-entity certificate first, by the constraints of all authorities above.
 *
 * @throws {ChainError}
 */
export function checkNames(path: readonly Certificate[]): void {
  let comparisons = 0
  for (const [index, authority] of path.entries()) {
    const extension = authority.parsed.extensions.find(({ type }) => type === id)
    if (index === 0 || !extension) continue
    const constraints = readConstraints(extension.value)
    for (const [place, certificate] of path.slice(0, index).entries()) {
      if (place > 0 && isSelfIssued(certificate)) continue
      const fail = (reason: string): never => {
        throw new ChainError(
          'name-constraints',
          `${nameOf(place, path.length, certificate.subject)} ${reason}`,
        )
      }
      const names = namesOf(certificate)
      comparisons += names.length * (constraints.permitted.length + constraints.excluded.length)
      if (comparisons > maxComparisons) fail('has too many names for the name constraints above it.')
      const refused = names.find((name) => !isAllowed(name, constraints))
      if (refused)
        fail(
          `has the name ${textOf(refused)}, which the name constraints of ${authority.subject} do not allow.`,
        )
    }
  }
}

type Constraints = { permitted: GeneralName[]; excluded: GeneralName[] }

function readConstraints(der: ArrayBuffer): Constraints {
  const { permittedSubtrees = [], excludedSubtrees = [] } = AsnConvert.parse(der, NameConstraints)
  const basesOf = (subtrees: Iterable<{ base: GeneralName }>) => [...subtrees].map(({ base }) => base)
  return { permitted: basesOf(permittedSubtrees), excluded: basesOf(excludedSubtrees) }
}

/** The subject is a name too. */
function namesOf({ names, parsed }: Certificate): GeneralName[] {
  const isNamed = parsed.subject !== ''
  return isNamed ? [...names, { directoryName: parsed.subjectName } as unknown as GeneralName] : [...names]
}

function isAllowed(name: GeneralName, { permitted, excluded }: Constraints): boolean {
  const form = formOf(name)
  const of = (bases: GeneralName[], forms: readonly string[]) =>
    bases.filter((base) => forms.includes(formOf(base)))
  if (!hostForms.includes(form)) return of([...permitted, ...excluded], [form]).length === 0
  const host = hostOf(name)
  // A name that cannot be compared is in no permitted subtree, and counts as excluded.
  if (host === undefined) return of([...permitted, ...excluded], [...hostForms, 'iPAddress']).length === 0
  const own = of(permitted, [form])
  const allowed = own.length > 0 ? own : of(permitted, hostForms)
  if (of(excluded, hostForms).some((base) => isBelow(host, base))) return false
  return allowed.length === 0 || allowed.some((base) => isBelow(host, base))
}

/** The forms that name a host. */
const hostForms: readonly string[] = ['dNSName', 'uniformResourceIdentifier']

/**
 * The host of a name, in lower case, without a final dot. Undefined: it is not a DNS name, such as an IP
 * address.
 */
function hostOf({ dNSName, uniformResourceIdentifier: uri }: GeneralName): string | undefined {
  const url = uri !== undefined && URL.canParse(uri) ? new URL(uri) : undefined
  const host = trimmed(dNSName ?? url?.hostname ?? '')
  const isHost = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(host) && isIP(host) === 0
  return isHost ? host : undefined
}

/** Whether a host is in a subtree. Of DNS names, each has its subdomains; of URIs, one with a dot before it. */
function isBelow(host: string, { dNSName, uniformResourceIdentifier: uri }: GeneralName): boolean {
  const base = trimmed(dNSName ?? uri!)
  if (base.startsWith('.')) return host.endsWith(base)
  if (dNSName === undefined) return host === base
  return base === '' || host === base || host.endsWith(`.${base}`)
}

function trimmed(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}

const forms = [
  'dNSName',
  'uniformResourceIdentifier',
  'directoryName',
  'iPAddress',
  'rfc822Name',
  'registeredID',
  'otherName',
  'x400Address',
  'ediPartyName',
] as const

function formOf(name: GeneralName): string {
  return forms.find((form) => name[form] !== undefined) ?? 'unknown'
}

function textOf(name: GeneralName): string {
  return name.dNSName ?? name.uniformResourceIdentifier ?? `of the form ${formOf(name)}`
}
