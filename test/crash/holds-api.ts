/** The point at which an API of the matrix stops, by `--import`: the answer is signalled, and its verdict not asked for. */

import 'reflect-metadata';
import { CallWorkflows } from '../../src/invocations/call-workflows.js';
import { around, stopAt } from './hold-client.js';

around(CallWorkflows.prototype, 'verdict', {
  before: (_tenant: string, invocation: string) => stopAt('verdict:before', invocation, 0),
});
