/** `agent tenant create`: creates the wallet, the entity and the API key in three calls. */
import * as Flags from '@oclif/core/flags'
import { readItems } from '../../cli/client/resources.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { argument, yesFlag } from '../../cli/input/arguments.ts'
import { canAsk, confirm } from '../../cli/prompts/ask.ts'
import { typed } from '../../cli/prompts/missing.ts'
import { makeKey, newKeyFlags } from '../../cli/input/secrets.ts'

export default defineCommand({
  summary: 'Create a tenant: a wallet, an entity and an API key',
  description: 'The key is printed only now; the agent stores a digest. Needs the administrator’s key.',
  examples: ['agent tenant create alice', 'agent tenant create alice --key-file alice.key'],
  args: {
    name: argument('name of the tenant'),
  },
  flags: {
    wallet: Flags.string({ description: 'id of the wallet; default: a new wallet' }),
    yes: yesFlag,
    ...newKeyFlags,
  },
  async run(context) {
    const { args, flags, call, getAccess, print, suggest } = context
    await noteNamesakes(context, args.name)
    const file = flags['key-file']
    // Create the key file first: a key that cannot be stored would be lost.
    const apiKey = makeKey(file)
    const walletId = flags.wallet ?? (await call('POST /wallets', { body: { name: args.name } })).id
    const { id } = await call('POST /iam/entities', { body: { name: args.name, walletId } })
    await call('POST /iam/apikey-authentication', { body: { entityId: id, apiKey } })
    const secret = file === undefined ? { apiKey } : { apiKeyFile: file }
    print(file === undefined ? `${id}\n${apiKey}` : id, [
      ['tenant', id],
      ['name', args.name],
      ['wallet', walletId],
      file === undefined ? ['api key', apiKey] : ['key file', file],
    ])
    suggest(
      file === undefined
        ? 'export AGENT_API_KEY=<api key>   # it is not shown again'
        : `agent profile add ${profileNameOf(args.name)} --url ${getAccess().url} --api-key-file ${typed([file])}`,
    )
    return { id, name: args.name, walletId, ...secret }
  },
})

/** Commands find a tenant by its name only if no other has it. Asks at a terminal, and says so in a script. */
async function noteNamesakes(
  { call, flags, isJson, sayError }: Context<object, { yes: boolean }>,
  name: string,
) {
  const { items } = await readItems('tenant', call, { limit: 1_000, order: 'desc' })
  const same = items.filter(({ names }) => names.some((each) => each.toLowerCase() === name.toLowerCase()))
  const [first] = same
  if (!first || flags.yes) return
  const text = `A tenant has the name ${JSON.stringify(name)} already: ${first.id}. Commands then need the id of either.`
  if (canAsk({ json: isJson })) await confirm(`${text} Create another?`)
  else sayError(`Note: ${text}`)
}

/** A name for a profile like that of a tenant: letters, digits and hyphens. */
function profileNameOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-+|-+$/g, '') || 'tenant'
}
