/** Claims in a form: a field for each property of a known schema, or a field that repeats for any claims. */
import { UsageError } from '../../errors/errors.ts'
import { shorten } from '../../format/text.ts'
import type { ClaimField } from '../../input/claim-fields.ts'
import type { Field } from '../session/prompt.ts'

/** Columns of a title, and of words that are shown instead of typed. */
export const titleColumns = 24
const wordColumns = 30

/** The word of a claim that is left out. */
const unset = 'not given'

const nameOf = (index: number) => `claim ${index + 1}`

/** Whether the texts of a claim are shown to choose from. */
const isChosen = ({ words }: ClaimField) => words !== undefined && words.join('   ').length <= wordColumns

export function claimFields(known: readonly ClaimField[] | undefined): Field[] {
  if (!known)
    return [{ name: 'claim', label: 'claim', value: '', hint: 'name=Alice, or age:=42 for JSON', many: true }]
  return known.map((claim, index) => ({
    name: nameOf(index),
    label: `${shorten(claim.title, titleColumns)}${claim.isRequired ? ' *' : ''}`,
    help: claim.label,
    ...(isChosen(claim)
      ? { value: unset, words: [unset, ...claim.words!] }
      : { value: '', hint: `${claim.kind}${claim.isRequired ? ', required' : ''}` }),
  }))
}

/** Returns the claims of a form, as `--claim` takes them. @throws {UsageError} for one that cannot be */
export function claimsIn(
  values: Readonly<Record<string, string>>,
  known: readonly ClaimField[] | undefined,
): string[] {
  if (!known)
    return Object.entries(values).flatMap(([name, value]) =>
      name.startsWith('claim') && value !== '' ? [value] : [],
    )
  return known.flatMap((claim, index) => {
    const value = values[nameOf(index)]!.trim()
    const text = isChosen(claim) && value === unset ? '' : value
    const fault = claim.faultOf(text)
    if (fault !== undefined) throw new UsageError(`${claim.title}: ${fault}`)
    return claim.toClaim(text) ?? []
  })
}
