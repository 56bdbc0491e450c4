/** The order of a command line: global flags may stand before the command, and oclif wants them after it. */

/** The global flags that have a value, and those that have none. */
const valued = ['--profile', '-p', '--url', '--api-key-file', '--admin-key-file']
const switches = ['--json', '--quiet', '-q']

/** Puts global flags that stand before the command behind its words, and writes `-h` as `--help`. Arguments after `--` stay as they are. */
export function arrange(argv: readonly string[], ids: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const before = argv.slice(0, end === -1 ? undefined : end).map((arg) => (arg === '-h' ? '--help' : arg))
  const count = Math.min(leadingFlags(before), before.length)
  const [flags, rest] = [before.slice(0, count), before.slice(count)]
  const words = wordsOf(rest, ids)
  return [...rest.slice(0, words), ...flags, ...rest.slice(words), ...argv.slice(before.length)]
}

/** How many of the arguments are global flags, with their values, that stand before anything else; one more where the last value is missing. */
export function leadingFlags(argv: readonly string[]): number {
  let count = 0
  while (count < argv.length) {
    const [name = ''] = argv[count]!.split('=')
    const isWhole = switches.includes(argv[count]!) || (valued.includes(name) && name !== argv[count])
    if (!isWhole && !valued.includes(name)) break
    count += isWhole ? 1 : 2
  }
  return count
}

/** How many of the arguments are the words of a command; of a command that does not exist, all before the first flag. */
function wordsOf(argv: readonly string[], ids: readonly string[]): number {
  const flag = argv.findIndex((arg) => arg.startsWith('-'))
  const words = argv.slice(0, flag === -1 ? undefined : flag)
  const known = words.findLastIndex((_, last) => ids.includes(words.slice(0, last + 1).join(':'))) + 1
  return known || words.length
}
