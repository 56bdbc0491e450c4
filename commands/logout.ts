import { fromProcess } from '../cli/client/settings.ts'
import { defineCommand } from '../cli/define-command.ts'
import { CommandError } from '../cli/errors/errors.ts'
import { readLogin, removeLogin, withLoginLock } from '../cli/login/store.ts'

export default defineCommand({
  summary: 'Sign out: revoke the tokens of agent login, and delete them',
  examples: ['agent logout', 'agent logout --profile acme'],
  async run({ flags, say, printFields }) {
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE } = fromProcess()
    const profile = flags.profile ?? AGENT_PROFILE
    return withLoginLock(configDir, profile, async () => {
      const login = readLogin(configDir, profile)
      if (!login) throw new CommandError(`The profile ${profile} is not signed in.`, 3, 'agent login')
      removeLogin(configDir, profile)
      const { revoke } = await import('../cli/login/provider.ts')
      const isRevoked = await revoke(login, login).catch((error: unknown) => {
        // The bundle of the provider has a class of its own.
        if (!(error instanceof Error && error.name === 'CommandError')) throw error
        say(`The tokens are deleted, but not revoked: ${error.message}`)
        return false
      })
      printFields([
        ['signed out', login.issuer],
        ['revoked', isRevoked ? 'yes' : 'no'],
      ])
      return { profile, issuer: login.issuer, revoked: isRevoked }
    })
  },
})
