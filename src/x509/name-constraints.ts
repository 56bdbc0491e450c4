/**
 * Name constraints (RFC 5280 §4.2.1.10) of DNS names and URIs. A certificate with a name of another form, for which an authority has a
 * constraint, is refused.
 */
import { AsnConvert } from '@peculiar/asn1-schema'
import { type GeneralName, NameConstraints } from '@peculiar/asn1-x509'
import { type Certificate, isSelfIssued, nameOf } from './certificate.ts'
import { ChainError } from './chain-error.ts'

const id = '2.5.29.30'

/** Checks the names of a path, the end-entity certificate first, by the constraints of all authorities above. @throws {ChainError} */
export function checkNames(path: readonly Certificate[]): void {
  for (const [index, authority] of path.entries()) {
    const extension = authority.parsed.extensions.find(({ type }) => type === id)
    if (index === 0 || !extension) continue
    const { permittedSubtrees = [], excludedSubtrees = [] } = AsnConvert.parse(
      extension.value,
      NameConstraints,
    )
    const basesOf = (subtrees: Iterable<{ base: GeneralName }>) => [...subtrees].map(({ base }) => base)
    const [permitted, excluded] = [basesOf(permittedSubtrees), basesOf(excludedSubtrees)]
    for (const [place, certificate] of path.slice(0, index).entries()) {
      if (place > 0 && isSelfIssued(certificate)) continue
      const refused = namesOf(certificate).find((name) => !isAllowed(name, permitted, excluded))
      if (refused)
        throw new ChainError(
          'name-constraints',
          `${nameOf(place, path.length, certificate.subject)} has the name ${textOf(refused)}, which the name constraints of ${authority.subject} do not allow.`,
        )
    }
  }
}

/** The subject is a name too. */
function namesOf({ names, parsed }: Certificate): GeneralName[] {
  const isNamed = parsed.subject !== ''
  return isNamed ? [...names, { directoryName: parsed.subjectName } as unknown as GeneralName] : [...names]
}

function isAllowed(name: GeneralName, permitted: GeneralName[], excluded: GeneralName[]): boolean {
  const form = formOf(name)
  const same = (bases: GeneralName[]) => bases.filter((base) => formOf(base) === form)
  const [allowed, forbidden] = [same(permitted), same(excluded)]
  if (allowed.length + forbidden.length === 0) return true
  const isIn = matchers[form]
  if (!isIn) return false
  // A name that cannot be compared is in no permitted subtree, and counts as excluded.
  if (forbidden.some((base) => isIn(name, base) !== false)) return false
  return allowed.length === 0 || allowed.some((base) => isIn(name, base) === true)
}

/** Whether a name is in a subtree; undefined when it cannot be compared. */
const matchers: Readonly<Record<string, (name: GeneralName, base: GeneralName) => boolean | undefined>> = {
  dNSName: ({ dNSName: name }, { dNSName: base }) => {
    const [host, suffix] = [name!.toLowerCase(), base!.toLowerCase()]
    if (suffix === '' || suffix.startsWith('.')) return host.endsWith(suffix)
    return host === suffix || host.endsWith(`.${suffix}`)
  },
  uniformResourceIdentifier: ({ uniformResourceIdentifier: name }, { uniformResourceIdentifier: base }) => {
    const host = URL.canParse(name!) ? new URL(name!).hostname.toLowerCase() : ''
    if (host === '') return undefined
    const suffix = base!.toLowerCase()
    return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix
  },
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
