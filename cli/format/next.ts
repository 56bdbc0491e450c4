/** Adds the flags of the daemon and the key to suggested commands. */
import { typed } from '../prompts/missing.ts'

/** The flags that select the daemon and the key. */
export type Identity = {
  url?: string | undefined
  profile?: string | undefined
  'api-key-file'?: string | undefined
  'admin-key-file'?: string | undefined
}

const names = ['url', 'profile', 'api-key-file', 'admin-key-file'] as const

/**
 * Returns a suggested command with the flags of this command. Its own flags and a comment at its end stay. A
 * command that names a profile has the daemon and the keys of that profile.
 */
export function forSameDaemon(command: string, identity: Identity): string {
  if (command.includes(' --profile ')) return command
  const accepted = names.filter((name) => accepts(command, name) && !command.includes(` --${name}`))
  const flags = accepted.flatMap((name) => {
    const value = identity[name]
    // A key from standard input cannot be read again.
    return value === undefined || value === '-' ? [] : [`--${name}`, value]
  })
  return flags.length === 0 ? command : command.replace(/(?=\s+#|$)/, ` ${typed(flags)}`)
}

/** Adds the profile to the commands in a text that start, restart or stop a daemon. */
export function forProfile(text: string, profile: string | undefined): string {
  return profile === undefined
    ? text
    : text.replaceAll(/\bagent daemon (?:start|stop|restart)\b/g, `$& --profile ${profile}`)
}

/** Commands without a daemon. `agent daemon` only reads profiles. */
function accepts(command: string, name: (typeof names)[number]): boolean {
  if (
    !command.startsWith('agent ') ||
    / --help$|^agent (?:profile|explain|decode|help|completion|demo|run|version|init|template|config schema)\b/.test(
      command,
    )
  )
    return false
  if (
    /^agent (?:daemon (?:start|stop|restart|status|logs|install|uninstall)|backup verify|config (?:show|set|unset|validate))\b/.test(
      command,
    )
  )
    return name === 'profile'
  return !/^agent backup restore\b/.test(command)
}
