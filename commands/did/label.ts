import { defineCommand } from '../../cli/define-command.ts'
import { didFields } from '../../cli/format/records.ts'
import { argument, ownDidArgument } from '../../cli/input/arguments.ts'
import { whichDid, whichLabel } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Name a DID of the wallet, for lists, questions and flags',
  description:
    'Commands take the label in place of the DID. It is not sent, and it is not in the DID’s document. An empty text removes it.',
  examples: ['agent did label did:prism:… "Acme signing"', "agent did label 'Acme signing' ''"],
  args: {
    did: ownDidArgument,
    label: argument('the new label; an empty text removes it', { canBeEmpty: true }),
  },
  questions: { did: whichDid('Which DID?'), label: whichLabel },
  async run({ args, call, print }) {
    const { did, label } = args
    const labelled = await call('PATCH /did-registrar/dids/{didRef}', {
      path: { didRef: did },
      body: { label },
    })
    print(labelled.did, didFields(labelled))
    return labelled
  },
})
