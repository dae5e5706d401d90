/** The workflows a worker of Parley runs. */
export { invocation } from './invocation.js';
