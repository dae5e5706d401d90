import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { ReconcileModule } from '../reconcile/reconcile.module.js';
import { Admission } from './admission.js';
import { CallWorkflows } from './call-workflows.js';
import { InvocationView } from './invocation-view.js';
import { InvocationsController } from './invocations.controller.js';
import { InvocationsService } from './invocations.service.js';
import { Launching } from './launching.js';
import { StartingService } from './starting.service.js';
import { Waiting } from './waiting.js';

@Module({
  imports: [HttpModule, ReconcileModule],
  controllers: [InvocationsController],
  providers: [Admission, CallWorkflows, InvocationView, InvocationsService, Launching, StartingService, Waiting],
  exports: [CallWorkflows],
})
export class InvocationsModule {}
