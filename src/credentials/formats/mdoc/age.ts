/** Ages: `age_over_21` true implies `age_over_18` true (ISO/IEC 18013-5 §7.2.5). */
import type { ClaimsPath } from '../../dcql/query.ts'

const name = /^age_over_(\d{2})$/

/**
 * Which paths an element of an age answers beside its own: those of lower ages if it is true, of higher ones
 * if it is false. Undefined for other elements.
 */
export function impliedAge(
  [namespace, id]: readonly [string, string],
  value: unknown,
): ((path: ClaimsPath) => boolean) | undefined {
  const own = name.exec(id)
  if (!own || typeof value !== 'boolean') return undefined
  return (path) => {
    const [where, asked] = path
    const other = path.length === 2 && typeof asked === 'string' ? name.exec(asked) : null
    if (where !== namespace || !other) return false
    return value ? other[1]! <= own[1]! : other[1]! >= own[1]!
  }
}

/** The claims with the ages that they imply, for queries. */
export function withImpliedAges(claims: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(claims).map(([namespace, elements]) => [namespace, addAges(elements as Elements)]),
  )
}

type Elements = Readonly<Record<string, unknown>>

function addAges(elements: Elements): Elements {
  const ages = Object.entries(elements).flatMap(([id, value]) => {
    const match = name.exec(id)
    return match && typeof value === 'boolean' ? [{ age: Number(match[1]), value }] : []
  })
  if (ages.length === 0) return elements
  const oldest = Math.max(-1, ...ages.filter(({ value }) => value).map(({ age }) => age))
  const youngest = Math.min(100, ...ages.filter(({ value }) => !value).map(({ age }) => age))
  const implied = Array.from({ length: 100 }, (_, age) => [
    `age_over_${String(age).padStart(2, '0')}`,
    age <= oldest ? true : age >= youngest ? false : undefined,
  ])
  return { ...Object.fromEntries(implied.filter(([, value]) => value !== undefined)), ...elements }
}
