/** Languages of names and labels: valid tags, and the one that a reader gets. */
import { describe, expect, test } from 'vitest'
import { chooseByLocale, Locale } from '../../src/foundation/locale.ts'
import { localesOf } from '../../cli/format/locale.ts'

test.each([
  ['de', 'de'],
  ['DE-at', 'de-AT'],
  ['zh-hant-tw', 'zh-Hant-TW'],
])('the tag %s is %s', (tag, canonical) => {
  expect(Locale.parse(tag)).toBe(canonical)
})

test.each(['', 'deutsch!', 'de_DE', 'x'.repeat(36), 1])('%j is no tag', (tag) => {
  expect(Locale.safeParse(tag).success).toBe(false)
})

describe('a reader gets', () => {
  const entries = ['fr', 'de-CH', 'de', 'en', undefined].map((locale) => ({ locale }))
  test.each([
    ['the language itself', ['de'], entries, 'de'],
    ['the language of a country', ['de-CH'], entries, 'de-CH'],
    ['the language without the country', ['fr-CA'], entries, 'fr'],
    ['the second choice', ['it', 'fr'], entries, 'fr'],
    ['English', ['it'], entries, 'en'],
    ['what has no language', ['it'], [{ locale: 'fr' }, { locale: undefined }], undefined],
    ['the first', ['it'], [{ locale: 'fr' }, { locale: 'de' }], 'fr'],
  ])('%s', (_, wanted, all, locale) => {
    expect(chooseByLocale(all, wanted)).toEqual({ locale })
  })
  test('nothing of nothing', () => expect(chooseByLocale([], ['de'])).toBeUndefined())
})

test.each([
  [{ LC_ALL: 'de_DE.UTF-8', LANG: 'fr_FR' }, ['de-DE']],
  [{ LC_ALL: '', LC_MESSAGES: 'sr_RS@latin', LANG: 'fr' }, ['sr-RS']],
  [{ LANG: 'C.UTF-8' }, []],
  [{}, []],
])('the environment %j is the language %j', (environment, tags) => {
  expect(localesOf({ LC_ALL: undefined, LC_MESSAGES: undefined, LANG: undefined, ...environment })).toEqual(
    tags,
  )
})
