import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { anonCredsSchemaUrl, definitionFields, didUrlFlag, openDefinition } from '../../cli/input/registry.ts'
import { readTimeout, timeoutFlag } from '../../cli/input/time.ts'
import { poll } from '../../cli/poll.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Create a credential definition, to issue AnonCreds credentials of a schema',
  description:
    'The daemon generates the key of the definition, which takes some seconds, and longer if other keys are before it. The command waits until the state is READY. With --no-wait it prints the definition at once, which is GENERATING.',
  examples: [
    'agent creddef create --schema <guid> --author <did> --name "id card"',
    'agent creddef create --schema <url> --author <did> --name "id card" --tag 2026 --no-wait',
  ],
  flags: {
    schema: Flags.string({
      required: true,
      description: 'the AnonCreds schema: its guid on this agent, or the URL or DID URL of its content',
    }),
    author: Flags.string({ required: true, description: 'DID of the issuer, in this wallet' }),
    name: Flags.string({ required: true, description: 'name of the definition' }),
    version: Flags.string({ description: 'SemVer', default: '1.0.0' }),
    tag: Flags.string({
      description: 'tag of the definition',
      default: 'default',
    }),
    description: Flags.string({ description: 'description for people' }),
    wait: Flags.boolean({ allowNo: true, default: true, description: 'wait until the key is generated' }),
    timeout: { ...timeoutFlag, dependsOn: [] },
    'did-url': didUrlFlag,
  },
  questions: { author: whichDid('Which DID issues by it?', 'author') },
  async run({ flags, getAccess, call, print, suggest, isJson, logJson, sayAtTerminal }) {
    const { author, name, version, tag, description, timeout = '5m' } = flags
    const timeoutMs = readTimeout(flags)
    const input = {
      headers: { prefer: 'respond-async' },
      body: {
        author,
        name,
        version,
        tag,
        description,
        schemaId: anonCredsSchemaUrl(flags.schema, getAccess().url),
        signatureType: 'CL' as const,
        supportRevocation: false,
      },
    }
    const begun = flags['did-url']
      ? await call('POST /credential-definition-registry/definitions/did-url', input)
      : await call('POST /credential-definition-registry/definitions', input)
    const { guid } = begun
    const show = `agent creddef show ${guid}${flags['did-url'] ? ' --did-url' : ''}`
    if (!flags.wait) {
      print(guid, definitionFields(begun))
      if (begun.state !== 'READY') suggest(show)
      return begun
    }
    sayAtTerminal(
      `Waiting until the key of the definition ${guid} is generated, ${timeout} at most. Ctrl-C stops waiting: the daemon continues.`,
    )
    const path = { guid }
    const read = async () =>
      openDefinition(
        flags['did-url']
          ? await call('GET /credential-definition-registry/definitions/did-url/{guid}', { path })
          : await call('GET /credential-definition-registry/definitions/{guid}', { path }),
      )
    const made = await poll(read, ({ state }) => state === 'READY', timeoutMs)
    print(guid, definitionFields(made))
    if (made.state === 'READY') return made
    if (isJson) logJson(made)
    const text = `The key of the credential definition ${guid} is not generated after ${timeoutMs / 1_000} s; the daemon continues.`
    throw new CommandError(text, 6, show)
  },
})
