// Derivatives and loads in sections: definitions, for the files that instantiate them.
#pragma once

#include <zveno/functions/chain_evaluation.hpp>

namespace zveno {

template <class T, class P>
void ChainEvaluation<T, P>::analyse(T* const* out, T* pivot) {
  switch (job_.function) {
    case Function::section_load: return section_load(out[0]);
    case Function::derivatives: return derivatives(out);  // method 'dual': see batch/ and instruments/
    case Function::forward_derivatives: return forward_derivatives(out, pivot);
    case Function::inverse_mass_matrix: return inverse_mass_matrix(out[0], pivot);
    case Function::mass_matrix_derivatives: return mass_matrix_derivatives(out[0]);
    case Function::mass_matrix_second_derivatives: return mass_matrix_second_derivatives(out[0]);
    case Function::christoffel: return christoffel(out[0]);
    case Function::gravity_stiffness: return gravity_stiffness_matrix(out[0]);
    case Function::kinematic_derivative: return kinematic_derivative(out[0]);
    case Function::effective_inertia: return effective_inertia(out[0]);
    case Function::mass_matrix_derivative: return mass_matrix_derivative(out[0]);
    case Function::second_derivatives: return second(out);
    case Function::packed_regressor: return packed_regressor(out[0]);
    case Function::energy_regressor: return energy_regressor(out[0]);
    case Function::power_regressor: return power_regressor(out[0]);
    case Function::momentum_regressor: return momentum_regressor(out[0]);
    case Function::base_wrench_regressor: return base_wrench_regressor(out[0]);
    default: return;
  }
}

}  // namespace zveno
