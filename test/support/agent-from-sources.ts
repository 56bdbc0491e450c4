/** Agents built from the sources, for tests that call functions of `src` inside an agent's transactions. */
import * as sources from '../../daemon/bundle.ts'
import { startAgent as startBuilt, type TestAgent, type TestOptions } from './agent.ts'
import { startPair as startBuiltPair } from './tenants.ts'

export type { TestAgent }

export const startAgent = (
  variables: Record<string, string> = {},
  options: TestOptions = {},
): Promise<TestAgent> => startBuilt(variables, { ...options, parts: sources })

export const startPair = (variables: Record<string, string> = {}) => startBuiltPair(variables, startAgent)
