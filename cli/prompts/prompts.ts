/** The prompts that there are; `ask.ts` loads them when somebody is asked. */
export { input, password, search, select } from '@inquirer/prompts'
