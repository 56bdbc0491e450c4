/** What a terminal can draw of a QR code, told by what it says of itself. */
import type { Rendering } from './qr.ts'

type Terminal = { isTTY?: boolean }
type Environment = Readonly<Record<string, string | undefined>>

/**
 * The renderings that come out, best first, of which the first is the one that is asked for or the smallest that every phone reads; or
 * the reason why there are none.
 */
export function renderingsFor(
  asked: 'small' | 'large',
  { isTTY }: Terminal = process.stdout,
  env: Environment = process.env,
): readonly Rendering[] | { reason: string } {
  if (!isTTY) return { reason: 'standard output is no terminal' }
  if (env.TERM === 'dumb') return { reason: 'the terminal is a dumb one (TERM)' }
  const large: Rendering[] = asked === 'large' ? ['large'] : []
  const locale = otherLocale(env)
  if (locale !== undefined)
    return asked === 'large'
      ? large
      : { reason: `the locale ${locale} has no block characters; --qr large needs none` }
  // Linux's own console has the blocks of its font, which are halves and no quarters.
  return env.TERM === 'linux' ? [...large, 'small'] : [...large, 'small', 'quadrants']
}

/** The locale when it is not one of UTF-8. Where none is set, as in containers, the terminal is still one of today. */
function otherLocale({ LC_ALL, LC_CTYPE, LANG }: Environment): string | undefined {
  const locale = LC_ALL || LC_CTYPE || LANG
  return locale && !/utf-?8/i.test(locale) ? locale : undefined
}
