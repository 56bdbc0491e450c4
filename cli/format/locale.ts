/** The languages in which a person reads names and labels. */
import * as Flags from '@oclif/core/flags'
import { chooseByLocale } from '../../src/foundation/locale.ts'

export const localeFlag = Flags.string({
  description: 'language of names and labels, such as de; default: that of LC_ALL or LANG',
})

/** The languages of the environment: LC_ALL, or LC_MESSAGES, or LANG. None for `C` and `POSIX`. */
export function localesOf({ LC_ALL, LC_MESSAGES, LANG } = process.env): string[] {
  const [tag] = (LC_ALL || LC_MESSAGES || LANG || '').split(/[.@]/)
  return tag === undefined || ['', 'C', 'POSIX'].includes(tag) ? [] : [tag.replaceAll('_', '-')]
}

/** The languages of `--locale`, or else of the environment. */
export function wantedLocales(flag: string | undefined): string[] {
  return flag === undefined ? localesOf() : [flag]
}

type Named = { locale?: string | undefined; name: string }

/** The display name of an issuer or a credential in the wanted languages. */
export function nameOf(display: readonly Named[] | undefined, wanted = localesOf()): string | undefined {
  return chooseByLocale(display ?? [], wanted)?.name
}
