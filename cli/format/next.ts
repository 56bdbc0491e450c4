/** Commands that are suggested: they go to the daemon, and with the key, of the command that suggests them. */
import { typed } from '../prompts/missing.ts'

/** Flags that say which daemon is meant, and as whom. */
export type Identity = {
  url?: string | undefined
  profile?: string | undefined
  'api-key-file'?: string | undefined
  'admin-key-file'?: string | undefined
}

const names = ['url', 'profile', 'api-key-file', 'admin-key-file'] as const

/** A suggested command with the flags that chose the daemon and the key. Its own flags stay, and a comment stays at its end. */
export function forSameDaemon(command: string, identity: Identity): string {
  const accepted = names.filter((name) => accepts(command, name) && !command.includes(` --${name}`))
  const flags = accepted.flatMap((name) => {
    const value = identity[name]
    // A key that came by standard input is there no more.
    return value === undefined || value === '-' ? [] : [`--${name}`, value]
  })
  return flags.length === 0 ? command : command.replace(/(?=\s+#|$)/, ` ${typed(flags)}`)
}

/** Help, explanations, profiles and backups that lie in a folder are no daemon's; `agent daemon` goes by profiles alone. */
function accepts(command: string, name: (typeof names)[number]): boolean {
  if (
    !command.startsWith('agent ') ||
    / --help$|^agent (?:profile|explain|help|completion|demo)\b/.test(command)
  )
    return false
  if (/^agent (?:daemon (?:start|stop|status|logs)|backup verify)\b/.test(command)) return name === 'profile'
  return !/^agent backup restore\b/.test(command)
}
