import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../cli/client/settings.ts'
import { defineCommand, type Context } from '../cli/define-command.ts'
import { CommandError, UsageError } from '../cli/errors/errors.ts'
import { whenAhead } from '../cli/format/time.ts'
import { type Login, readLogin, writeLogin } from '../cli/login/store.ts'
import { ProblemError } from '../daemon/client/client.ts'

export default defineCommand({
  summary: 'Sign in at the OpenID provider of the daemon’s operator',
  description:
    'Opens a browser, or with --device prints an address and a code for a browser on any machine. Later commands with the same profile send the token to this daemon and renew it. A key that a flag or a variable names comes before it.',
  examples: ['agent login', 'agent login --device', 'agent login --wallet <id>'],
  flags: {
    device: Flags.boolean({ description: 'print an address and a code for a browser on any machine' }),
    'no-browser': Flags.boolean({
      exclusive: ['device'],
      description: 'print the address instead of opening it; the browser must be on this machine',
    }),
    'client-id': Flags.string({
      description: 'client at the provider; default: the one that the daemon names (OIDC_LOGIN_CLIENT_ID)',
    }),
    scope: Flags.string({
      default: 'openid offline_access',
      description: 'scopes to ask for, with spaces between them',
    }),
    wallet: Flags.string({ description: 'id of the wallet to use, if you have several' }),
  },
  async run(context) {
    const { flags, getAccess, isJson, logJson, say, printFields, suggest } = context
    const { AGENT_CONFIG_DIR: configDir } = fromProcess()
    const { url, profileName } = getAccess()
    const { issuer, clientId, audience } = await findProvider(context, configDir)
    const { signInByBrowser, signInByDevice } = await import('../cli/login/provider.ts')
    const asked = { scope: flags.scope, resource: URL.canParse(audience ?? '') ? audience : undefined }
    const show = (address: string, code?: string) => {
      if (isJson) logJson({ address, ...(code !== undefined && { code }) })
      say(`Sign in at ${address}${code === undefined ? '' : ` with the code ${code}`}`)
      if (!flags.device && !flags['no-browser']) void open(address, say)
    }
    const signIn = flags.device ? signInByDevice : signInByBrowser
    const tokens = await signIn({ issuer, clientId }, asked, show)
    const login: Login = {
      url,
      issuer,
      clientId,
      ...tokens,
      ...(flags.wallet !== undefined && { walletId: flags.wallet.toLowerCase() }),
    }
    writeLogin(configDir, profileName, login)
    const expires =
      login.expiresAt === undefined ? undefined : new Date(login.expiresAt * 1_000).toISOString()
    printFields([
      ['signed in', issuer],
      ['profile', profileName],
      ['wallet', login.walletId],
      ['expires', expires && whenAhead(expires, Date.now())],
      ['renewed', login.refreshToken === undefined ? 'no' : 'automatically'],
    ])
    suggest('agent wallet list', 'agent logout')
    return { profile: profileName, issuer, clientId, ...(expires !== undefined && { expiresAt: expires }) }
  },
})

type LoginContext = Context<object, { 'client-id'?: string | undefined }>

/** The provider of the daemon, and the client. @throws {CommandError}, {UsageError} */
async function findProvider({ call, getAccess, flags }: LoginContext, configDir: string) {
  const { url, profileName } = getAccess()
  const metadata = await call('GET /.well-known/oauth-protected-resource').catch((error: unknown) => {
    if (!(error instanceof ProblemError) || error.problem.status !== 404) throw error
    throw new CommandError(`The daemon at ${url} accepts no tokens: its operator has set no OIDC_ISSUER.`, 5)
  })
  const [issuer] = metadata.authorization_servers
  const known = readLogin(configDir, profileName)
  const clientId =
    flags['client-id'] ?? metadata.login_client_id ?? (known?.issuer === issuer ? known?.clientId : undefined)
  if (issuer === undefined || clientId === undefined)
    throw new UsageError(
      '--client-id: the daemon names no client (OIDC_LOGIN_CLIENT_ID). Ask its operator for one.',
    )
  return { issuer, clientId, audience: metadata.audience }
}

async function open(address: string, say: (text: string) => void): Promise<void> {
  const { openLink } = await import('../cli/qr/open-link.ts')
  const reason = await openLink(address)
  if (reason !== undefined) say(`No browser was opened: ${reason}. Open the address in one on this machine.`)
}
