/** Languages of texts (BCP 47). */
import * as z from 'zod'

/** A language tag in its canonical form. */
export const Locale = z
  .string()
  .max(35)
  .refine((tag) => canonical(tag) !== undefined, {
    abort: true,
    error: 'is not a language tag of BCP 47, such as de or en-GB',
  })
  .overwrite((tag) => canonical(tag) ?? tag)

function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/**
 * The text for a reader: in the first wanted language that there is, in English, or without a language; else
 * the first.
 */
export function chooseByLocale<Entry extends { locale?: string | undefined }>(
  entries: readonly Entry[],
  wanted: readonly string[],
): Entry | undefined {
  const all = [...wanted, 'en']
  for (const tag of all) {
    const exact = entries.find(({ locale }) => locale?.toLowerCase() === tag.toLowerCase())
    const found =
      exact ?? entries.find(({ locale }) => locale !== undefined && languageOf(locale) === languageOf(tag))
    if (found) return found
  }
  return entries.find(({ locale }) => locale === undefined) ?? entries[0]
}

const languageOf = (tag: string) => tag.split('-')[0]!.toLowerCase()
